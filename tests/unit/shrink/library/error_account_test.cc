// Tests which calls are samples, and what is known of them when.
#include "shrink/library/error_account.h"

#include <gtest/gtest.h>

#include <vector>

namespace crossover::shrink::library {
namespace {

// A Calls stands in for the GPU of one kind of calls.
struct Calls {
  ErrorAccount account;
  ErrorParts parts{};
  std::vector<std::uint64_t> samples;  // the numbers of the calls

  std::uint64_t Begin(std::uint64_t call) {
    return account.Begin(call, [this] { return &parts; });
  }
  // Makes a call, whose sample, if it is one, stays on its stream.
  void Call(std::uint64_t call) {
    if (Begin(call) == 0) return;
    samples.push_back(call);
    account.Launched();
  }
  // Ends the kernel of the last sample, in all blocks or in some.
  void Finish(std::size_t blocks = kErrorBlocks) {
    for (std::size_t i = 0; i < blocks; ++i) parts[i] = {{1, 2, 4, i == 0 ? 1U : 0U}, samples.size()};
  }
};

TEST(ErrorAccountTest, TheFirstCallsAndThenOneInAHundredAreSamples) {
  Calls kind;
  for (std::uint64_t call = 1; call <= 304; ++call) {
    kind.Call(call);
    kind.Finish();
  }
  EXPECT_EQ(kind.samples, (std::vector<std::uint64_t>{1, 2, 3, 4, 104, 204, 304}));
  const Errors errors = kind.account.Read();
  EXPECT_EQ(errors.samples, 7U);
  EXPECT_EQ(errors.unfinished, 0U);
  EXPECT_EQ(errors.sums.bf16, 7.0 * kErrorBlocks);
  EXPECT_EQ(errors.sums.q8, 14.0 * kErrorBlocks);
  EXPECT_EQ(errors.sums.squares, 28.0 * kErrorBlocks);
  EXPECT_EQ(errors.sums.not_finite, 7U);
}

TEST(ErrorAccountTest, ACallBesideASampleThatRunsIsNone) {
  Calls kind;
  kind.Call(1);
  kind.Call(2);
  kind.Finish(kErrorBlocks - 1);  // the last block still runs
  kind.Call(3);
  EXPECT_EQ(kind.account.Read().samples, 0U);
  EXPECT_EQ(kind.account.Read().unfinished, 1U);
  EXPECT_EQ(kind.account.Read().sums.squares, 0);
  kind.Finish();
  kind.Call(4);
  EXPECT_EQ(kind.samples, (std::vector<std::uint64_t>{1, 4}));
  EXPECT_EQ(kind.account.Read().samples, 1U);
  EXPECT_EQ(kind.account.Read().unfinished, 1U);
}

TEST(ErrorAccountTest, OneThatIsLateDoesNotMoveTheOthersCloser) {
  Calls kind;
  for (std::uint64_t call = 1; call <= 110; ++call) {
    kind.Call(call);
    if (call < 4 || call > 108) kind.Finish();
  }
  for (std::uint64_t call = 111; call <= 210; ++call) kind.Call(call);
  EXPECT_EQ(kind.samples, (std::vector<std::uint64_t>{1, 2, 3, 4, 110, 210}));
}

TEST(ErrorAccountTest, OneThatWasNotLaunchedIsTriedAgain) {
  Calls kind;
  EXPECT_EQ(kind.Begin(1), 1U);
  EXPECT_EQ(kind.Begin(2), 0U) << "a thread has the account";
  EXPECT_EQ(kind.account.Read().samples, 0U);
  kind.account.Dropped();
  EXPECT_EQ(kind.Begin(3), 1U);
  kind.account.Launched();
  EXPECT_EQ(kind.account.Read().unfinished, 1U);
}

TEST(ErrorAccountTest, WithoutMemoryThereAreNone) {
  ErrorAccount account;
  EXPECT_EQ(account.Begin(1, [] { return static_cast<ErrorParts*>(nullptr); }), 0U);
  EXPECT_EQ(account.Read().samples + account.Read().unfinished, 0U);
}

TEST(ErrorAccountTest, ValuesThatAreAllZeroHaveNoError) {
  EXPECT_EQ(RelativeError(0, 0), 0);
  EXPECT_EQ(RelativeError(1, 4), 0.25);
}

}  // namespace
}  // namespace crossover::shrink::library
