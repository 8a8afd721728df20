// Tests that in time-slices jobs that take turns are never slower than one after the other, whichever job
// each GPU lets in first. The turnstile has to know that a turn may wait for its collective. If it believes
// that such a turn computes, two GPUs that let in different jobs hold up both jobs: a job with two turns in
// an iteration then loses 18 to 25%.

#include <gtest/gtest.h>

#include "tests/unit/turn/whole_turns_model.h"

namespace crossover::turn::test {
namespace {

constexpr Time kMs = 1'000'000;
constexpr std::uint64_t kSeeds = 25;
constexpr std::size_t kWarmUp = 20;

// These functions return the segments of an iteration. BroadcastFirst has a broadcast of buffers before the
// compute, and SumLast has a loss that is summed up behind it.
std::vector<Segment> Plain(Time communicate) { return {{20 * kMs, communicate}}; }
std::vector<Segment> BroadcastFirst(Time communicate) {
  return {{kMs / 2, kMs}, {20 * kMs - kMs / 2, communicate - kMs}};
}
std::vector<Segment> SumLast(Time communicate) {
  return {{20 * kMs - kMs / 2, communicate - kMs}, {kMs / 2, kMs}};
}

struct Variant {
  const char* name;
  std::vector<Segment> (*segments)(Time communicate);
};

// Returns the options of one run. With `crossed` the jobs come within a millisecond of each other, and GPUs
// differ in which job they let in first.
WholeTurnsOptions OptionsOf(const Variant& variant, Time communicate, bool crossed, std::uint64_t seed) {
  WholeTurnsOptions options;
  options.segments = variant.segments(communicate);
  options.noise = kMs / 10;
  options.start_crossed = crossed;
  options.seed = seed;
  options.offset = static_cast<Time>(seed * 7919 % 1000) * (crossed ? kMs / 1000 : kMs / 25);
  return options;
}

double GainOf(const WholeTurnsOptions& options) {
  return GainOverBackToBack(options, RunWholeTurns(options), kWarmUp);
}

class WholeTurnsTest : public ::testing::TestWithParam<Variant> {};

TEST_P(WholeTurnsTest, AreNeverSlowerThanOneAfterTheOther) {
  for (const Time communicate : {4 * kMs, 12 * kMs, 20 * kMs}) {
    for (const bool crossed : {false, true}) {
      for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
        ASSERT_GE(GainOf(OptionsOf(GetParam(), communicate, crossed, seed)), 0.98)
            << communicate / kMs << " ms of communication, seed " << seed << (crossed ? ", crossed" : "");
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, WholeTurnsTest,
                         ::testing::Values(Variant{"Plain", Plain}, Variant{"BroadcastFirst", BroadcastFirst},
                                           Variant{"SumLast", SumLast}),
                         [](const auto& variant) { return variant.param.name; });

TEST(WholeTurns, ThreeJobsAreNotSlowerEither) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WholeTurnsOptions options = OptionsOf({"BroadcastFirst", BroadcastFirst}, 12 * kMs, true, seed);
    options.jobs = 3;
    ASSERT_GE(GainOf(options), 0.98) << "seed " << seed;
  }
}

// --- Slices of iterations, if a switch from job to job takes time.

// Returns the options of one run on two GPUs. Their arbiters poll at times of their own, and polls fall
// between a release and the next request, too.
WholeTurnsOptions SlicedOptions(const Variant& variant, Time communicate, bool crossed, std::uint64_t seed) {
  WholeTurnsOptions options = OptionsOf(variant, communicate, crossed, seed);
  options.gpus = 2;
  options.slices = WholeTurnsOptions::Slices::kOnAllGpus;
  options.switch_cost = 4 * kMs;
  options.ask_gap = kMs / 20;
  options.first_iteration = static_cast<std::uint32_t>(seed * 7);
  options.iterations = 320;
  return options;
}

constexpr std::size_t kSlicedWarmUp = 70;  // single turns, and the first slice of each job

double WorkOf(const WholeTurnsOptions& options) {
  return WorkOverBackToBack(options, RunWholeTurns(options), kSlicedWarmUp);
}

TEST_P(WholeTurnsTest, InSlicesSwitchesCostNearlyNothing) {
  for (const Time communicate : {4 * kMs, 12 * kMs, 20 * kMs}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const bool crossed = seed % 5 == 0;
      const WholeTurnsOptions options = SlicedOptions(GetParam(), communicate, crossed, seed);
      const WholeTurnsResult result = RunWholeTurns(options);
      ASSERT_GE(WorkOverBackToBack(options, result, kSlicedWarmUp), 0.97)
          << communicate / kMs << " ms of communication, seed " << seed << (crossed ? ", crossed" : "");
      EXPECT_EQ(result.sliced, options.gpus);
    }
  }
}

TEST(WholeTurns, InSlicesThreeJobsAreNotSlowerEither) {
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
    WholeTurnsOptions options = SlicedOptions({"Plain", Plain}, 12 * kMs, false, seed);
    options.jobs = 3;
    options.gpus = 4;
    ASSERT_GE(WorkOf(options), 0.97) << "seed " << seed;
  }
}

// The control pays for a switch in each iteration.
TEST(WholeTurns, WithoutSlicesSwitchesCostMuch) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    WholeTurnsOptions options = SlicedOptions({"Plain", Plain}, 6 * kMs, false, seed);
    options.slices = WholeTurnsOptions::Slices::kNone;
    EXPECT_LT(WorkOf(options), 0.9) << "seed " << seed;
  }
}

// One GPU has slices and the other has none: each job waits for a rank that has no turn. The GPU that has
// slices finds out, and ends them.
TEST(WholeTurns, GpusThatDifferInSlicesHaveNoneSoon) {
  for (const Variant& variant : {Variant{"Plain", Plain}, Variant{"BroadcastFirst", BroadcastFirst}}) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      WholeTurnsOptions options = SlicedOptions(variant, 12 * kMs, false, seed);
      options.slices = WholeTurnsOptions::Slices::kOnEvenGpus;
      options.switch_cost = 0;
      options.iterations = 600;
      const WholeTurnsResult result = RunWholeTurns(options);
      EXPECT_EQ(result.sliced, 0) << variant.name << ", seed " << seed;
      EXPECT_GE(WorkOverBackToBack(options, result, 300), 0.97) << variant.name << ", seed " << seed;
    }
  }
}

TEST(WholeTurns, GpusThatDifferInSlicesForEverLoseMuch) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    WholeTurnsOptions options = SlicedOptions({"Plain", Plain}, 12 * kMs, false, seed);
    options.slices = WholeTurnsOptions::Slices::kOnEvenGpusForEver;
    options.switch_cost = 0;
    EXPECT_LT(WorkOf(options), 0.8) << "seed " << seed;
  }
}

// The control is a turnstile that is not told that turns last. It falls into the trap in most of the
// starts, and stays there.
TEST(WholeTurns, ATurnstileThatIsNotToldLosesMuch) {
  int lost = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    WholeTurnsOptions options = OptionsOf({"BroadcastFirst", BroadcastFirst}, 12 * kMs, true, seed);
    options.told = false;
    lost += GainOf(options) < 0.85 ? 1 : 0;
  }
  EXPECT_GE(lost, 5);
}

}  // namespace
}  // namespace crossover::turn::test
