#include "deviceplugin/signaller/options.h"

#include <gtest/gtest.h>

#include <vector>

namespace crossover::signaller {
namespace {

constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000001";

OptionResult Read(const std::vector<const char*>& arguments) { return ParseOptions(arguments); }

std::string ErrorOf(const std::vector<const char*>& arguments) {
  const OptionResult result = Read(arguments);
  const auto* error = std::get_if<OptionError>(&result);
  return error == nullptr ? "no error" : error->text;
}

TEST(SignallerOptions, AGpuIsEnough) {
  const OptionResult result = Read({"--gpu", kGpu});
  ASSERT_TRUE(std::holds_alternative<Options>(result));
  EXPECT_EQ(std::get<Options>(result).gpu_uuid, kGpu);
  EXPECT_EQ(std::get<Options>(result).socket, "/run/crossover/arbiter.sock");
}

TEST(SignallerOptions, AProcessMayKeepThoseOfAllGpus) {
  const OptionResult result = Read({"--each-gpu", "2", "--no-mps", "/empty"});
  ASSERT_TRUE(std::holds_alternative<Options>(result));
  EXPECT_EQ(std::get<Options>(result).role, Role::kKeep);
  EXPECT_EQ(std::get<Options>(result).count, 2);
  EXPECT_EQ(std::get<Options>(Read({"--list-gpus"})).role, Role::kListGpus);
}

TEST(SignallerOptions, OneMayBeginWithoutTheDriver) {
  EXPECT_FALSE(std::get<Options>(Read({"--gpu", kGpu})).resting);
  EXPECT_TRUE(std::get<Options>(Read({"--gpu", kGpu, "--resting"})).resting);
  EXPECT_EQ(ErrorOf({"--each-gpu", "1", "--resting"}), "--resting: expected beside --gpu, got without it");
}

TEST(SignallerOptions, WhatIsWrongIsNamed) {
  EXPECT_EQ(ErrorOf({}), "options: expected one of --gpu UUID, --each-gpu N or --list-gpus, got 0");
  EXPECT_EQ(ErrorOf({"--gpu", kGpu, "--list-gpus"}),
            "options: expected one of --gpu UUID, --each-gpu N or --list-gpus, got 2");
  EXPECT_EQ(ErrorOf({"--gpu", "GPU-1"}),
            "--gpu: expected GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx, got GPU-1");
  for (const char* count : {"0", "5", "12", "two"})
    EXPECT_EQ(ErrorOf({"--each-gpu", count}),
              "--each-gpu: expected a whole number from 1 to 4, got " + std::string(count));
  EXPECT_EQ(ErrorOf({"--gpu"}), "--gpu: expected a value, got none");
  EXPECT_EQ(ErrorOf({"--gpus", "all"}), "--gpus: unknown option; --help lists them");
  EXPECT_EQ(ErrorOf({"--gpu", kGpu, "--socket", "a.sock"}),
            "--socket: expected an absolute path of at most 107 bytes, got a.sock");
  EXPECT_EQ(ErrorOf({"--gpu", kGpu, "--no-mps", ""}), "--no-mps: expected an absolute path, got \"\"");
}

TEST(SignallerOptions, HelpAndVersion) {
  EXPECT_TRUE(std::holds_alternative<HelpWanted>(Read({"--help"})));
  EXPECT_TRUE(std::holds_alternative<VersionWanted>(Read({"--gpu", kGpu, "--version"})));
}

}  // namespace
}  // namespace crossover::signaller
