#include "examples/trainer/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "examples/trainer/reduction_options.h"

namespace crossover::trainer {
namespace {

using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StrEq;

Options Accepted(const std::vector<std::string>& arguments) {
  const auto parsed = ParseOptions(arguments);
  EXPECT_TRUE(std::holds_alternative<Options>(parsed)) << std::get<UsageError>(parsed).text;
  return std::get<Options>(parsed);
}

std::string Refused(const std::vector<std::string>& arguments) {
  const auto parsed = ParseOptions(arguments);
  EXPECT_TRUE(std::holds_alternative<UsageError>(parsed));
  return std::holds_alternative<UsageError>(parsed) ? std::get<UsageError>(parsed).text : "";
}

TEST(OptionsTest, BothFormsOfAFlagAreRead) {
  const Options options = Accepted({"--iterations=7", "--compute-ms", "2.5", "--variant=loss_allreduce"});
  EXPECT_EQ(options.iterations, 7u);
  EXPECT_EQ(options.compute_ms, 2.5);
  EXPECT_EQ(options.variant, Variant::kLossAllreduce);
}

TEST(OptionsTest, AnErrorIsOneLineWithFlagValueAndWhatIsAllowed) {
  EXPECT_THAT(Refused({"--batch=0"}), StrEq("--batch: expected a whole number from 1 to 256, got 0"));
  EXPECT_THAT(Refused({"--batch=8x"}), HasSubstr("--batch: expected a whole number from 1 to 256, got 8x"));
  EXPECT_THAT(Refused({"--variant=fast"}),
              AllOf(HasSubstr("--variant: expected one of plain, one_stream, "), EndsWith(", got fast")));
  EXPECT_THAT(Refused({"--jitter=nan"}), HasSubstr("--jitter: expected a number from 0 to 0.3, got nan"));
  EXPECT_THAT(Refused({"--early-bytes=1"}), HasSubstr("0.9"));
}

TEST(OptionsTest, SmsOfKernelsAreAList) {
  EXPECT_TRUE(Accepted({}).kernel_sms.empty());
  EXPECT_EQ(Accepted({"--kernel-sms=132,66"}).kernel_sms, (std::vector<std::uint32_t>{132, 66}));
  for (const std::string bad : {"", "0", "66,", "66;33", "1025"}) {
    EXPECT_EQ(Refused({"--kernel-sms=" + bad}),
              "--kernel-sms: expected whole numbers from 1 to 1024 with commas between them, got " +
                  (bad.empty() ? "\"\"" : bad));
  }
}

TEST(OptionsTest, UnknownAndIncompleteFlagsAreRefused) {
  EXPECT_THAT(Refused({"--itrations=7"}), HasSubstr("--itrations: unknown flag"));
  EXPECT_THAT(Refused({"7"}), HasSubstr("unknown argument"));
  EXPECT_THAT(Refused({"--seed"}), AllOf(HasSubstr("--seed: expected a value: "), EndsWith(", got none")));
}

TEST(OptionsTest, GradientsByTheHostGoWithPlainTrainingOnly) {
  EXPECT_EQ(Accepted({"--gradients=host", "--exchange-ms=3"}).gradients, Gradients::kHost);
  for (const char* other : {"--variant=sync_bn", "--nccl=split", "--eval-every=5", "--abort-every=5"}) {
    EXPECT_THAT(Refused({"--gradients=host", other}),
                AllOf(HasSubstr("--gradients=host: expected --variant=plain, "), EndsWith(other)));
  }
}

TEST(OptionsTest, FlagsOfPipelinesGoWithPipelinesOnly) {
  const Options options = Accepted({"--variant=pipeline", "--microbatches=6", "--block-forward-ms=1,2.5"});
  EXPECT_EQ(options.microbatches, 6u);
  EXPECT_EQ(options.block_forward_ms, (std::vector<double>{1, 2.5}));
  EXPECT_EQ(Accepted({"--variant=pipeline", "--plan=p.json"}).plan, "p.json");
  EXPECT_THAT(Refused({"--microbatches=6"}),
              StrEq("--variant: expected pipeline, because of --microbatches=6, got plain"));
  EXPECT_THAT(Refused({"--variant=pipeline", "--eval-every=3"}),
              StrEq("--variant=pipeline: expected no such flag beside it, got --eval-every=3"));
  EXPECT_THAT(Refused({"--variant=pipeline", "--plan=p.json", "--blocks=3"}),
              StrEq("--plan: expected no flag for what the plan says, got --blocks=3"));
  EXPECT_THAT(
      Refused({"--variant=pipeline", "--block-backward-ms=1,,2"}),
      StrEq("--block-backward-ms: expected numbers from 0 to 100000 with commas between them, got 1,,2"));
}

TEST(OptionsTest, SharesGoWithPlainTrainingOnly) {
  EXPECT_EQ(Accepted({"--shares=f", "--speeds=1,0.5"}).speeds, (std::vector<double>{1, 0.5}));
  EXPECT_EQ(Refused({"--shares=f", "--variant=sharded"}),
            "--variant: expected plain, because of --shares, got sharded");
  EXPECT_EQ(Refused({"--shares=f", "--gradients=host"}),
            "--shares: expected no such flag beside it, got --gradients=host");
  EXPECT_EQ(Refused({"--share-fault=unweighted"}),
            "--shares: expected a file, because of --share-fault=unweighted, got \"\"");
  EXPECT_EQ(Refused({"--speeds=1,0"}),
            "--speeds: expected numbers from 0.01 to 100 with commas between them, got 1,0");
}

TEST(OptionsTest, ReductionsGoWithPlainTrainingOnly) {
  using reductions::Fault;
  using reductions::Reduction;
  EXPECT_EQ(Accepted({}).reduction, Reduction::kSum);
  EXPECT_EQ(Accepted({"--reduction=adasum"}).reduction, Reduction::kAdasum);
  EXPECT_EQ(Accepted({"--reduction=topk", "--topk-density=0.01"}).topk_density, 0.01);
  EXPECT_EQ(Accepted({"--reduction=q8", "--reduction-fault=two-bits"}).reduction_fault, Fault::kTwoBits);
  EXPECT_EQ(Refused({"--reduction=q4"}),
            "--reduction: expected one of sum, bf16, q8, adaptive, topk, adasum, got q4");
  for (const char* name : {"bf16", "q8", "adaptive", "topk", "adasum"}) {
    const std::string because = std::string(", because of --reduction=") + name;
    const std::string flag = std::string("--reduction=") + name;
    for (const char* variant : {"one_stream", "sharded", "tensor", "experts", "pipeline"}) {
      EXPECT_EQ(Refused({flag, std::string("--variant=") + variant}),
                "--variant: expected plain" + because + ", got " + variant);
    }
    EXPECT_EQ(Refused({flag, "--gradients=host"}), "--gradients: expected nccl" + because + ", got host");
    EXPECT_EQ(Refused({flag, "--nccl=split"}), "--nccl: expected plain" + because + ", got split");
    EXPECT_EQ(Refused({flag, "--join=host"}), "--join: expected stream" + because + ", got host");
    EXPECT_EQ(Refused({flag, "--shares=f"}), "--shares: expected no file" + because + ", got f");
    EXPECT_EQ(Refused({flag, "--abort-every=3"}), "--abort-every: expected 0" + because + ", got 3");
    EXPECT_EQ(Refused({flag, "--link-bytes-per-s=1e6"}),
              "--link-bytes-per-s: expected no such flag" + because + ", got 1e6");
  }
  EXPECT_EQ(Refused({"--topk-density=0.1"}),
            "--topk-density: expected no such flag unless --reduction=topk, got 0.1");
  EXPECT_EQ(Refused({"--reduction=topk", "--reduction-fault=two-bits"}),
            "--reduction-fault: expected none unless --reduction=q8, got two-bits");
  EXPECT_EQ(Refused({"--reduction-fault=no-residual"}),
            "--reduction-fault: expected none unless --reduction=topk, got no-residual");
}

TEST(OptionsTest, ReductionsNeedRanksThatTheyCanReduce) {
  const auto refused = [](const char* reduction, std::uint32_t world) {
    Rank rank;
    rank.world = world;
    const auto fault = FaultOfRanks(Accepted({std::string("--reduction=") + reduction}), rank);
    return fault ? fault->text : "accepted";
  };
  EXPECT_EQ(refused("sum", 1), "accepted");
  EXPECT_EQ(refused("topk", 6), "accepted");
  EXPECT_EQ(refused("q8", 1),
            "environment: WORLD_SIZE: expected at least 2, because of --reduction=q8, got 1");
  EXPECT_EQ(refused("adasum", 8), "accepted");
  EXPECT_EQ(refused("adasum", 6),
            "environment: WORLD_SIZE: expected a power of two, because of --reduction=adasum, got 6");
}

TEST(OptionsTest, RanksWithOtherReductionsHaveOtherDigests) {
  const auto digest = [](const std::vector<std::string>& arguments) {
    return JobDigest(Accepted(arguments));
  };
  EXPECT_NE(digest({}), digest({"--reduction=q8"}));
  EXPECT_NE(digest({"--reduction=topk"}), digest({"--reduction=topk", "--topk-density=0.1"}));
  EXPECT_NE(digest({"--reduction=q8"}), digest({"--reduction=q8", "--reduction-fault=two-bits"}));
}

TEST(OptionsTest, HelpNamesEveryFlag) {
  EXPECT_TRUE(std::holds_alternative<HelpWanted>(ParseOptions({"--seed=3", "--help"})));
  for (const char* flag : {"--iterations", "--gradient-bytes", "--pause-file", "--jitter-seed", "--stream"}) {
    EXPECT_THAT(HelpText(), HasSubstr(flag));
  }
}

std::map<std::string, std::string>& Environment() {
  static std::map<std::string, std::string> environment;
  return environment;
}

const char* FakeGetEnv(const char* name) {
  const auto found = Environment().find(name);
  return found == Environment().end() ? nullptr : found->second.c_str();
}

class RankTest : public testing::Test {
 protected:
  void SetUp() override {
    Environment() = {{"RANK", "3"},
                     {"WORLD_SIZE", "4"},
                     {"LOCAL_RANK", "1"},
                     {"MASTER_ADDR", "node0"},
                     {"MASTER_PORT", "29500"}};
  }
  std::string Refusal() {
    const auto rank = ReadRank(FakeGetEnv);
    return std::holds_alternative<UsageError>(rank) ? std::get<UsageError>(rank).text : "accepted";
  }
};

TEST_F(RankTest, TorchrunsEnvironmentIsRead) {
  const auto rank = std::get<Rank>(ReadRank(FakeGetEnv));
  EXPECT_EQ(rank.rank, 3u);
  EXPECT_EQ(rank.world, 4u);
  EXPECT_EQ(rank.local_rank, 1u);
  EXPECT_EQ(rank.master_addr, "node0");
  EXPECT_EQ(rank.master_port, 29500u);
}

TEST_F(RankTest, WhatIsMissingOrWrongIsNamed) {
  Environment()["RANK"] = "4";
  EXPECT_THAT(Refusal(), StrEq("environment: RANK: expected a whole number from 0 to 3, got 4"));
  Environment()["RANK"] = "0";
  Environment()["MASTER_PORT"] = "http";
  EXPECT_THAT(Refusal(), HasSubstr("MASTER_PORT: expected a whole number from 1 to 65535, got http"));
  Environment()["MASTER_PORT"] = "1";
  Environment().erase("MASTER_ADDR");
  EXPECT_THAT(Refusal(), HasSubstr("MASTER_ADDR: expected the host name or address of rank 0, got nothing"));
  Environment().erase("WORLD_SIZE");
  EXPECT_THAT(Refusal(), HasSubstr("WORLD_SIZE: expected a whole number from 1 to 4096, got nothing"));
}

}  // namespace
}  // namespace crossover::trainer
