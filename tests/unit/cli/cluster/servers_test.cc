#include "cli/cluster/servers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "pipeline/mapping.h"

namespace crossover::cli {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

json Gpu(const char* model, std::int64_t gib, bool healthy = true) {
  static int made = 0;
  return {{"uuid", "GPU-" + std::to_string(++made)},
          {"model", model},
          {"memoryBytes", gib << 30},
          {"healthy", healthy}};
}

json Node(const char* name, const json& gpus, double link_gbit = 0) {
  json node = {{"metadata", {{"name", name}}}, {"status", {{"gpus", gpus}}}};
  if (link_gbit > 0) node["status"]["linkBytesPerSecond"] = static_cast<std::int64_t>(link_gbit * 1e9 / 8);
  return node;
}

json TwoNodes() {
  return json::array({Node("b", json::array({Gpu("H100", 80), Gpu("H100", 79), Gpu("H100", 80, false)}), 400),
                      Node("a", json::array({Gpu("H100", 80)}), 100)});
}

TEST(ServersTest, DescribesTheGpusThatAreGivenOut) {
  const ServersAnswer answer = ServersOf(TwoNodes(), {.nodes = {}, .speed = {}, .inner_gbit = 2400});
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.note, "");
  EXPECT_EQ(answer.description, json::parse(R"({"servers": [
      {"name": "a", "gpus": 1, "speed": 1.0, "gpu_memory_gib": 80.0, "network_gbit": 100.0, "inner_gbit": 2400.0},
      {"name": "b", "gpus": 2, "speed": 1.0, "gpu_memory_gib": 79.0, "network_gbit": 400.0, "inner_gbit": 2400.0}]})"));
}

TEST(ServersTest, ThePlannerReadsIt) {
  std::string error;
  const auto servers =
      pipeline::ReadServers(ServersOf(TwoNodes(), {}).description.dump(), "cluster.json", &error);
  ASSERT_TRUE(servers) << error;
  ASSERT_EQ(servers->size(), 2u);
  EXPECT_EQ((*servers)[1].gpus, 2);
  EXPECT_EQ((*servers)[1].network_bytes_per_second, 50e9);
}

TEST(ServersTest, GpusOfSeveralModelsNeedTheirSpeeds) {
  const json nodes = json::array({Node("a", json::array({Gpu("H100", 80), Gpu("A100", 40)}), 100),
                                  Node("b", json::array({Gpu("A100", 40)}), 100)});
  EXPECT_EQ(ServersOf(nodes, {}).error,
            R"(--speed: expected a speed for each of "A100", "H100", got none for "A100", "H100")");
  ServersOptions options{.nodes = {}, .speed = {{"H100", 1}}, .inner_gbit = 0};
  EXPECT_EQ(ServersOf(nodes, options).error,
            R"(--speed: expected a speed for each of "A100", "H100", got none for "A100")");
  options.speed["A100"] = 0.5;
  const ServersAnswer answer = ServersOf(nodes, options);
  ASSERT_EQ(answer.error, "");
  ASSERT_EQ(answer.description["servers"].size(), 3u);
  EXPECT_EQ(answer.description["servers"][0]["name"], "a/A100");
  EXPECT_EQ(answer.description["servers"][0]["node"], "a");
  EXPECT_EQ(answer.description["servers"][1]["node"], "a");
  EXPECT_FALSE(answer.description["servers"][2].contains("node")) << "it has no other server";
  EXPECT_EQ(answer.description["servers"][0]["speed"], 0.5);
  EXPECT_EQ(answer.description["servers"][2]["name"], "b");
  options.nodes = {"b"};
  EXPECT_EQ(ServersOf(nodes, options).error, R"(--speed: expected a model of "A100", got H100)");
}

TEST(ServersTest, ThePlannerCrossesTheNetworkOnceBetweenTwoNodes) {
  const json gpus = json::array({Gpu("H100", 80), Gpu("A100", 40)});
  const ServersOptions options{.nodes = {}, .speed = {{"H100", 1}, {"A100", 0.5}}, .inner_gbit = 2400};
  const ServersAnswer answer = ServersOf(json::array({Node("a", gpus, 1), Node("b", gpus, 1)}), options);
  std::string error;
  const auto servers = pipeline::ReadServers(answer.description.dump(), "cluster.json", &error);
  ASSERT_TRUE(servers) << error;
  pipeline::Problem problem;
  problem.blocks.resize(8);
  for (pipeline::Block& block : problem.blocks) {
    block.forward = block.backward = 1'000'000;
    block.output_bytes = 1'000'000;
  }
  problem.microbatches = 8;
  const auto mapping = pipeline::Map(problem, *servers, 4);
  ASSERT_TRUE(mapping);
  std::string nodes;
  for (const pipeline::Seat& seat : mapping->seats) nodes += seat.server.front();
  EXPECT_TRUE(nodes == "aabb" || nodes == "bbaa") << nodes;
}

TEST(ServersTest, SaysWhatIsNotThereOrNotKnown) {
  EXPECT_EQ(ServersOf(TwoNodes(), {.nodes = {"c"}, .speed = {}, .inner_gbit = 0}).error,
            R"(--node: expected a node of "a", "b", got c)");
  EXPECT_THAT(ServersOf(json::array({Node("a", json::array({Gpu("H100", 80, false)}))}), {}).error,
              HasSubstr("expected at least one GPU that is healthy and given out, got none"));
  json withheld = Gpu("H100", 80, false);
  withheld["withheld"] = "it has more pods than slots";
  EXPECT_EQ(ServersOf(json::array({Node("a", json::array({withheld}))}), {}).error,
            "expected at least one GPU that is healthy and given out, got none: run kubectl crossover "
            "doctor; node a: one GPU is withheld: it has more pods than slots");
  EXPECT_THAT(ServersOf(json(), {}).error, HasSubstr("expected at least one GPU"));
  EXPECT_THAT(ServersOf(json::array({7, {{"status", {{"gpus", {3, "x"}}}}}}), {}).error,
              HasSubstr("expected at least one GPU"));
  json nodes = TwoNodes();
  nodes[0]["status"].erase("linkBytesPerSecond");
  EXPECT_EQ(ServersOf(nodes, {}).note,
            "node \"b\": the speed of its link is not known, so the plan counts transfers there as free: set "
            "deviceplugin.config.node.link_gbps\n");
  EXPECT_EQ(ServersOf(json::array({nodes[0]}), {}).note, "") << "nothing leaves the only node";
  nodes[1]["status"].erase("linkBytesPerSecond");
  EXPECT_EQ(ServersOf(nodes, {}).note,
            "nodes \"a\", \"b\": the speeds of their links are not known, so the plan counts transfers there "
            "as free: set deviceplugin.config.node.link_gbps\n");
}

TEST(ServersTest, NamesAndServersAreBounded) {
  json nodes = json::array();
  const auto name = [](int i) { return "n" + std::to_string(10000 + i); };
  for (int i = 0; i < 1000; ++i) nodes.push_back(Node(name(i).c_str(), json::array({Gpu("H100", 80)})));
  const ServersAnswer most = ServersOf(nodes, {});
  EXPECT_EQ(most.error, "");
  EXPECT_THAT(most.note, HasSubstr(R"("n10019" and 980 more: the speeds of their links are not known)"));
  std::string error;
  EXPECT_TRUE(pipeline::ReadServers(most.description.dump(), "cluster.json", &error)) << error;
  nodes.push_back(Node(name(1000).c_str(), json::array({Gpu("H100", 80)})));
  EXPECT_EQ(
      ServersOf(nodes, {}).error,
      "--node: expected nodes with at most 1000 servers in all (each model of GPU on a node counts as one), "
      "the most that a plan takes, got 1001");
  EXPECT_THAT(ServersOf(nodes, {.nodes = {"x"}, .speed = {}, .inner_gbit = 0}).error,
              HasSubstr("and 981 more, got x"));
}

TEST(ServersTest, TheSpeedOfAModel) {
  ServersOptions options;
  EXPECT_EQ(AddSpeed("NVIDIA H100 80GB=HBM3=1.5", &options), "");
  EXPECT_EQ(options.speed.at("NVIDIA H100 80GB=HBM3"), 1.5);
  for (const char* words :
       {"", "=", "=1", "H100", "H100=", "H100=fast", "H100=0", "H100=1e4", "H100=nan", "H100=-1"})
    EXPECT_THAT(AddSpeed(words, &options), HasSubstr("expected MODEL=FACTOR")) << words;
  EXPECT_EQ(AddSpeed("NVIDIA H100 80GB=HBM3=2", &options),
            "expected one factor for each model, got two for NVIDIA H100 80GB=HBM3");
}

}  // namespace
}  // namespace crossover::cli
