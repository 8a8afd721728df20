#include "pipeline/profile.h"

#include <gtest/gtest.h>

namespace crossover::pipeline {
namespace {

std::vector<Block> Read(const std::string& text) {
  std::string error;
  const auto blocks = ReadProfile(text, "p", &error);
  EXPECT_TRUE(blocks) << error;
  return blocks.value_or(std::vector<Block>());
}

std::string ErrorOf(const std::string& text) {
  std::string error;
  EXPECT_FALSE(ReadProfile(text, "p", &error)) << text;
  return error;
}

Block MakeBlock(const std::string& name, Time forward, Time backward) {
  Block block;
  block.name = name;
  block.forward = forward;
  block.backward = backward;
  return block;
}

TEST(Profile, Csv) {
  const std::vector<Block> blocks = Read(
      "# measured on one GPU\n"
      "backward_ms, forward_ms ,block,output_bytes\r\n"
      "3,1.5,embed,1e6\n"
      "\n"
      "0,0.000001,head,0");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].name, "embed");
  EXPECT_EQ(blocks[0].forward, 1'500'000);
  EXPECT_EQ(blocks[0].backward, 3'000'000);
  EXPECT_EQ(blocks[0].output_bytes, 1'000'000u);
  EXPECT_EQ(blocks[1], MakeBlock("head", 1, 0));
}

TEST(Profile, CsvWithoutNames) { EXPECT_EQ(Read("forward_ms,backward_ms\n1,2\n1,2")[1].name, "block1"); }

TEST(Profile, Json) {
  const std::vector<Block> blocks = Read(
      R"( {"blocks": [
            {"block": "a", "forward_ms": 1, "backward_ms": 2, "stored_bytes": 7, "parameter_bytes": 8},
            {"forward_ms": 1, "backward_ms": 2}]})");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].stored_bytes, 7u);
  EXPECT_EQ(blocks[0].parameter_bytes, 8u);
  EXPECT_EQ(blocks[1], MakeBlock("[1]", 1'000'000, 2'000'000));
}

// The trace has several steps. Blocks are in the order in which they first ran forward, not in that of the
// file. The row of the GPU has regions again, which do not count.
TEST(Profile, TraceOfTorch) {
  const std::vector<Block> blocks = Read(R"({"schemaVersion": 1, "traceEvents": [
    {"ph": "X", "name": "block:b:backward", "ts": 30, "dur": 9.5},
    {"ph": "X", "name": "block:b", "ts": 20, "dur": 4},
    {"ph": "X", "name": "block:a", "ts": 10, "dur": 2},
    {"ph": "X", "name": "block:a", "ts": 110, "dur": 3},
    {"ph": "X", "name": "block:a", "ts": 210, "dur": 1000},
    {"ph": "X", "name": "block:a:backward", "ts": 40, "dur": 5},
    {"ph": "X", "cat": "gpu_user_annotation", "name": "block:a", "ts": 5, "dur": 900},
    {"ph": "i", "name": "block:a"}, {"ph": "X", "name": "aten::mm", "ts": 1, "dur": 1}, {"name": 3}, 7
  ]})");
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0], MakeBlock("a", 3'000, 5'000)) << "the median of its regions";
  EXPECT_EQ(blocks[1], MakeBlock("b", 4'000, 9'500));
}

TEST(Profile, WhatIsWrongIsNamed) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "p: blocks: expected at least one, got none"},
      {"forward_ms,backward_ms\n", "p: blocks: expected at least one, got none"},
      {"forward_ms\n1", "p:1: columns: expected forward_ms and backward_ms among them, got forward_ms"},
      {"forward_ms,backward_ms,colour\n",
       "p:1: column: expected block, forward_ms, backward_ms, output_bytes, stored_bytes or parameter_bytes, "
       "each once, got colour"},
      {"forward_ms,backward_ms,forward_ms\n",
       "p:1: column: expected block, forward_ms, backward_ms, output_bytes, stored_bytes or parameter_bytes, "
       "each once, got forward_ms"},
      {"forward_ms,backward_ms\n1,2\n1,2,3\n", "p:3: line: expected 2 fields, got 3"},
      {"forward_ms,backward_ms\n1,x\n", "p:2: backward_ms: expected milliseconds from 0 to 1e9, got x"},
      {"forward_ms,backward_ms\n-1,2\n", "p:2: forward_ms: expected milliseconds from 0 to 1e9, got -1"},
      {"forward_ms,backward_ms\nnan,2\n", "p:2: forward_ms: expected milliseconds from 0 to 1e9, got nan"},
      {"forward_ms,backward_ms,stored_bytes\n1,2,1e30\n",
       "p:2: stored_bytes: expected bytes from 0 to 1e15, got 1e30"},
      {"{", "p:1:2: content: expected CSV, or JSON that can be parsed, got the end of the file"},
      {"{\"blocks\": [\n  {\"forward_ms\": 1}\n  {\"forward_ms\": 2}]}",
       "p:3:3: content: expected CSV, or JSON that can be parsed, got   {"},
      {"{\n\"blocks\": nil}",
       "p:2:12: content: expected CSV, or JSON that can be parsed, got \"blocks\": ni"},
      {"{\"blocks\":\n\"a\nb\"}", "p:2:3: content: expected CSV, or JSON that can be parsed, got \"a?"},
      {"{\"blocks\": [1e999]}",
       "p:1:17: content: expected CSV, or JSON that can be parsed, got {\"blocks\": [1e999"},
      {"[\"\n", "p:1:3: content: expected CSV, or JSON that can be parsed, got [\"?"},
      {R"({"blocks": [], "colour": 1})", "p: key: expected blocks, got colour"},
      {"{}", "p: content: expected an object with blocks or traceEvents, got {}"},
      {R"({"blocks": 3})", "p: blocks: expected a list, got 3"},
      {R"({"blocks": [3]})", "p: blocks[0]: block: expected an object, got 3"},
      {R"({"blocks": [[[]]]})", "p: blocks[0]: block: expected an object, got array"},
      {R"({"blocks": [{"forward_ms": 1}]})", "p: blocks[0]: backward_ms: expected milliseconds, got none"},
      {R"({"blocks": [{"forward_ms": "1", "backward_ms": 2}]})",
       "p: blocks[0]: forward_ms: expected milliseconds from 0 to 1e9, got \"1\""},
      {R"({"blocks": [{"forward_ms": 1, "backward_ms": 2, "block": 4}]})",
       "p: blocks[0]: block: expected a name, got 4"},
      {R"([{"ph": "X", "name": "block:a", "ts": 1}])", "p: block:a: dur: expected microseconds, got none"},
      {R"([{"ph": "X", "name": "block:a", "ts": 1, "dur": -3}])",
       "p: block:a: dur: expected microseconds from 0 to 1e12, got -3"},
      {R"([{"ph": "X", "name": "block:a", "ts": 1, "dur": 3}])",
       "p: a: regions: expected at least one of the forward and one of the backward pass, got none of the "
       "backward pass"},
      {"[]", "p: blocks: expected at least one, got none"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), error);
}

TEST(Profile, TooManyBlocksAreCounted) {
  std::string csv = "forward_ms,backward_ms\n", list, events;
  for (int block = 0; block < 10'002; ++block) {
    csv += "1,2\n";
    list += std::string(block > 0 ? "," : "") + R"({"forward_ms": 1, "backward_ms": 2})";
    events += std::string(block > 0 ? "," : "") + R"({"ph": "X", "ts": 1, "dur": 1, "name": "block:)" +
              std::to_string(block) + "\"}";
  }
  for (const std::string& text : {csv, R"({"blocks": [)" + list + "]}", "[" + events + "]"})
    EXPECT_EQ(ErrorOf(text), "p: blocks: expected at most 10000, got 10002");
}

}  // namespace
}  // namespace crossover::pipeline
