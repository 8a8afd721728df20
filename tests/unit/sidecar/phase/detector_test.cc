#include "sidecar/phase/detector.h"

#include <gtest/gtest.h>

#include <string>

namespace crossover::phase {
namespace {

// Feeds a training loop that is written as text:
//   a letter  a collective; the same letter is the same call
//   '.'       a compute launch
//   '|'       compute that waits for the last collective
//   '<'       compute that waits for an older one
//   '?'       compute that may wait for the last collective from here on
//   '~'       compute that may wait for an older one from here on
// Returns one character per collective: '-' not locked, '!' broke the period, 'l' locked, 'E' ends a turn,
// 'o' is waited for at once.
std::string Feed(Detector& detector, const std::string& program) {
  std::string verdicts;
  for (const char c : program) {
    if (c == '.') {
      detector.OnCompute();
    } else if (c == '|') {
      detector.OnJoin();
    } else if (c == '<') {
      detector.OnInnerJoin();
    } else if (c == '?') {
      detector.OnPossibleJoin();
    } else if (c == '~') {
      detector.OnPossibleInnerJoin();
    } else {
      const Detector::Verdict verdict = detector.OnCollective({1, 0, static_cast<std::uint64_t>(c), 7, 0, 0});
      verdicts += verdict.broken     ? '!'
                  : !verdict.locked  ? '-'
                  : verdict.turn_end ? 'E'
                  : verdict.at_once  ? 'o'
                                     : 'l';
    }
  }
  return verdicts;
}

std::string Times(int count, const std::string& text) {
  std::string repeated;
  for (int i = 0; i < count; ++i) repeated += text;
  return repeated;
}

TEST(DetectorTest, LocksAfterThreeIterationsAndEndsTheTurnAtTheLastBucket) {
  Detector detector;
  EXPECT_EQ(Feed(detector, Times(3, "..a.b.c|")), "---------");
  EXPECT_EQ(Feed(detector, Times(2, "..a.b.c|")), "llEllE");
  EXPECT_EQ(detector.period(), 3u);
  EXPECT_EQ(detector.turns_per_period(), 1u);
}

TEST(DetectorTest, BroadcastOfBuffersIsATurnOfItsOwn) {
  Detector detector;
  Feed(detector, Times(3, ".x|.a.b|"));
  EXPECT_EQ(Feed(detector, ".x|.a.b|"), "ElE");
  EXPECT_EQ(detector.turns_per_period(), 2u);
}

TEST(DetectorTest, SynchronousAllReduceOfTheLossIsATurnOfItsOwn) {
  Detector detector;
  Feed(detector, Times(3, "..z|.a.b.c|"));
  EXPECT_EQ(Feed(detector, "..z|.a.b.c|"), "EllE");
}

TEST(DetectorTest, AccumulationOnlyMakesTheTurnLonger) {
  Detector detector;
  Feed(detector, Times(3, "........a.b|"));
  EXPECT_EQ(Feed(detector, "........a.b|"), "lE");
}

TEST(DetectorTest, EqualBucketsDoNotHideThePeriod) {
  Detector detector;
  Feed(detector, Times(4, ".a.a.a|"));
  EXPECT_EQ(detector.period(), 3u);
  EXPECT_EQ(Feed(detector, ".a.a.a|"), "llE");
}

TEST(DetectorTest, EvaluationSuspendsAndTrainingIsLearnedAgain) {
  Detector detector;
  Feed(detector, Times(20, ".a.b|"));
  EXPECT_EQ(Feed(detector, ".e|.e|"), "!-");
  EXPECT_FALSE(detector.locked());
  Feed(detector, Times(4, ".a.b|"));
  EXPECT_EQ(Feed(detector, ".a.b|"), "lE");
}

TEST(DetectorTest, RebuiltBucketsAreAnotherPeriod) {
  Detector detector;
  Feed(detector, ".a.b.c|");
  Feed(detector, Times(3, ".d.e|"));
  EXPECT_EQ(Feed(detector, ".d.e|"), "lE");
}

TEST(DetectorTest, LayerwiseGatherIsObservedOnly) {
  Detector detector;
  EXPECT_EQ(Feed(detector, Times(8, "a|.b|.c|.d|.e|.f|.")).find_first_not_of('-'), std::string::npos);
}

TEST(DetectorTest, WaitInsideATurnIsObservedOnly) {
  Detector detector;
  // Each gather is called one ahead of its use, so compute waits for older ones in the middle of a turn.
  EXPECT_EQ(Feed(detector, Times(8, "ab<.c<.d<.e|.")).find_first_not_of('-'), std::string::npos);
}

TEST(DetectorTest, WaitForAnOlderBucketBehindTheLastOneIsNoWaitInsideATurn) {
  Detector detector;
  Feed(detector, Times(3, "..a.b.c<|"));
  EXPECT_EQ(Feed(detector, "..a.b.c<|"), "llE");
}

TEST(DetectorTest, WaitThatIsLeftOutInSomeRepetitionsEndsATurnInAll) {
  Detector detector;
  Feed(detector, ".x?.a.b|.x|.a.b?.x?.a.b|");
  EXPECT_EQ(Feed(detector, ".x?.a.b|.x|.a.b|.x?.a.b?.x|.a.b|"), "ElEElEElEElE");
  EXPECT_EQ(detector.turns_per_period(), 2u);
}

TEST(DetectorTest, WaitThatIsAlwaysLeftOutEndsNoTurnUntilItIsSeen) {
  Detector detector;
  Feed(detector, Times(5, ".x?.a.b|"));
  EXPECT_EQ(Feed(detector, ".x|.a.b|"), "llE");
  EXPECT_EQ(detector.turns_per_period(), 2u);
  EXPECT_EQ(Feed(detector, ".x?.a.b|.x|.a.b|"), "ElEElE");
}

TEST(DetectorTest, WaitForAnOlderBucketMayBeLeftOut) {
  Detector detector;
  Feed(detector, "..a.b.c<|..a.b~.c~|..a.b.c<|");
  EXPECT_EQ(Feed(detector, "..a.b~.c~|..a.b.c<|..a~.b~.c~?"), "llEllEllE");
}

TEST(DetectorTest, WaitForTheLastBucketMayBeLeftOutBehindOneForAnOlderBucket) {
  Detector detector;
  Feed(detector, Times(3, "..a.b.c<?"));
  EXPECT_EQ(Feed(detector, "..a.b.c<|..a.b~.c~?..a.b.c<?"), "llEllEllE");
}

TEST(DetectorTest, WaitThatIsMissingAndWasNotLeftOutBreaksThePeriod) {
  Detector detector;
  Feed(detector, Times(3, ".x?.a.b|.x|.a.b|"));
  EXPECT_EQ(Feed(detector, ".x.a.b|"), "E!-");
}

TEST(DetectorTest, NewWaitInsideATurnBreaksThePeriod) {
  Detector detector;
  Feed(detector, Times(5, ".a.b~.c|"));
  EXPECT_EQ(Feed(detector, ".a.b<.c|"), "ll!");
}

TEST(DetectorTest, RanksThatLeaveOutOtherWaitsEndTheirTurnsAtTheSameCalls) {
  constexpr int kRepetitions = 2000;
  std::string verdicts[2];
  for (unsigned rank = 0; rank < 2; ++rank) {
    Detector detector;
    unsigned random = rank + 1;
    for (int i = 0; i < kRepetitions; ++i) {
      random = random * 1103515245u + 12345u;
      const bool first = (random >> 16) % 4 == 0;
      const bool second = (random >> 20) % 2 == 0;
      const std::string done =
          Feed(detector, std::string(first ? ".x?" : ".x|") + (second ? ".a.b~|" : ".a.b<|"));
      if (i > 10) verdicts[rank] += done;
    }
  }
  EXPECT_EQ(verdicts[0], Times(kRepetitions - 11, "ElE"));
  EXPECT_EQ(verdicts[1], verdicts[0]);
}

TEST(DetectorTest, ShortRunInsideALongIterationFoolsItOnlyOnce) {
  Detector detector;
  const std::string verdicts = Feed(detector, Times(12, ".x|.x|.x|.x|.y|"));
  EXPECT_LE(std::count(verdicts.begin(), verdicts.end(), '!'), 1);
  EXPECT_EQ(detector.period(), 0u) << "five turns are too many";
  Detector four;
  const std::string last = Feed(four, Times(12, ".x|.x|.x|.y|"));
  EXPECT_LE(std::count(last.begin(), last.end(), '!'), 1);
  EXPECT_EQ(four.period(), 4u);
  EXPECT_EQ(last.substr(last.size() - 4), "EEEE");
}

// Twelve equal calls and another one are thirteen turns, which is too many. The library reports no launches
// while a period is known, so the calls in such a run count as they did in the period before.
TEST(DetectorTest, TurnsAreCountedWhereLaunchesAreNotWatched) {
  Detector detector;
  const std::string iteration = Times(12, ".x|") + ".y|";
  for (int i = 0; i < 6; ++i) {
    for (const char c : iteration) {
      if (c != '.' || !detector.locked()) Feed(detector, std::string(1, c));
      EXPECT_NE(detector.period(), 13u);
    }
  }
  EXPECT_GT(detector.periods_seen(), 6 * 8u) << "no period is known for long: this shows nothing";
}

TEST(DetectorTest, MissingJoinBreaksThePeriod) {
  Detector detector;
  Feed(detector, Times(10, ".a.b|"));
  EXPECT_EQ(Feed(detector, ".a.b"), "lE");  // b was expected to end a turn, and nothing waits for it
  EXPECT_EQ(Feed(detector, ".a"), "!");
}

TEST(DetectorTest, AJoinThatIsSeenIsNotUnknownAnyMore) {
  Detector detector;
  EXPECT_EQ(Feed(detector, ".a.b?|.a.b.a.b?|.a"), "-------") << "the second repetition has no wait";
}

TEST(DetectorTest, EveryFieldOfACallCounts) {
  const Token token{1, 2, 3, 4, 5, 6};
  Token other = token;
  other.communicator = 9;
  EXPECT_NE(Digest(other), Digest(token));
  other = token;
  other.function = 9;
  EXPECT_NE(Digest(other), Digest(token));
  other = token;
  other.count = 9;
  EXPECT_NE(Digest(other), Digest(token));
  other = token;
  other.datatype = 9;
  EXPECT_NE(Digest(other), Digest(token));
  other = token;
  other.op_or_root = 9;
  EXPECT_NE(Digest(other), Digest(token));
  other = token;
  other.root = 9;
  EXPECT_NE(Digest(other), Digest(token));
}

// Six layers, each of which waits for its weights: more turns than an iteration may have.
constexpr char kSixLayers[] = "a|.b|.c|.d|.e|.f|.";

TEST(DetectorTest, ManyTurnsEndAtWaitsWhereThatIsAllowed) {
  Detector detector;
  detector.AllowWaits();
  EXPECT_EQ(Feed(detector, Times(10, kSixLayers)), Times(60, "-"));
  EXPECT_EQ(Feed(detector, Times(2, kSixLayers)), "----" + Times(8, "o")) << "no collective ends a turn";
  EXPECT_TRUE(detector.at_waits());
  EXPECT_EQ(detector.period(), 6u);
  EXPECT_EQ(detector.turns_per_period(), 6u);
  EXPECT_EQ(detector.periods_seen(), 1u);
}

TEST(DetectorTest, CallsRepeatAlsoWhereTheIterationHasTooManyTurns) {
  Detector detector;
  Feed(detector, Times(10, kSixLayers));
  EXPECT_EQ(detector.repeats_every(), 0u) << "not sure yet";
  Feed(detector, Times(2, kSixLayers));
  EXPECT_FALSE(detector.locked());
  EXPECT_EQ(detector.repeats_every(), 6u);
  Feed(detector, "a.b<.c.d|.e|.f.");
  EXPECT_EQ(detector.repeats_every(), 6u) << "compute joined other collectives";
  Feed(detector, "x");
  EXPECT_EQ(detector.repeats_every(), 0u);
}

TEST(DetectorTest, WhatAKnownPeriodHasIsWhatRepeats) {
  Detector detector;
  Feed(detector, Times(6, "..a.b.c|"));
  ASSERT_TRUE(detector.locked());
  EXPECT_EQ(detector.repeats_every(), 3u);
  Feed(detector, "x");
  EXPECT_EQ(detector.repeats_every(), 0u);
}

TEST(DetectorTest, AWaitInsideATurnEndsItWhereThatIsAllowed) {
  Detector detector;
  detector.AllowWaits();
  Feed(detector, Times(40, "..a.b<.c|"));
  EXPECT_TRUE(detector.at_waits());
  EXPECT_EQ(detector.period(), 3u);
}

TEST(DetectorTest, AWaitThatOnceComesLaterIsNotAtOnce) {
  Detector detector;
  detector.AllowWaits();
  Feed(detector, Times(20, "a|.b.|.c|.d|.e|.f|."));
  EXPECT_EQ(Feed(detector, "a|.b|.c.|.d|.e|.f|."), "oloooo");
}

// PyTorch leaves out a wait for what it has found done. The next iteration waits at once again.
TEST(DetectorTest, AWaitThatIsLeftOutOnceIsStillAtOnce) {
  Detector detector;
  detector.AllowWaits();
  Feed(detector, Times(20, kSixLayers));
  EXPECT_EQ(Feed(detector, "a|.b?.c|.d|.e|.f|."), "oooooo");
  EXPECT_EQ(Feed(detector, kSixLayers), "oooooo");
  EXPECT_EQ(Feed(detector, kSixLayers), "oooooo");
  EXPECT_EQ(Feed(detector, "a|.b.|.c|.d|.e|.f|."), "oooooo");
  EXPECT_EQ(Feed(detector, kSixLayers), "oloooo") << "it came later once";
}

// If turns end at waits, compute may join other collectives in each iteration.
TEST(DetectorTest, OnlyTheCallsHaveToRepeatWhereTurnsEndAtWaits) {
  Detector detector;
  detector.AllowWaits();
  Feed(detector, Times(20, kSixLayers));
  ASSERT_TRUE(detector.at_waits());
  EXPECT_EQ(Feed(detector, "a.b<.c.d|.e|.f."), "oooooo");
  EXPECT_EQ(Feed(detector, "x"), "!");
  EXPECT_FALSE(detector.at_waits());
}

TEST(DetectorTest, FewTurnsEndInFrontOfCollectivesAlsoWhereWaitsAreAllowed) {
  Detector detector;
  detector.AllowWaits();
  Feed(detector, Times(60, "..a.b.c|"));
  EXPECT_TRUE(detector.locked());
  EXPECT_FALSE(detector.at_waits());
}

TEST(DetectorTest, WithoutAWaitThereIsNoTurnToEnd) {
  Detector detector;
  detector.AllowWaits();
  Feed(detector, Times(60, ".a.b.c"));
  EXPECT_FALSE(detector.locked());
  EXPECT_FALSE(detector.at_waits());
  detector.Reset();
  Feed(detector, Times(20, kSixLayers));
  EXPECT_TRUE(detector.at_waits()) << "Reset() keeps this setting";
}

using Obstacle = Detector::Obstacle;

TEST(DetectorTest, SaysThatWaitsLieInsideTurnsOnceTheyHaveRepeated) {
  for (const std::string iteration : {".a.b<.c|", ".a|.b|.c|.d|.e|"}) {
    Detector detector;
    Feed(detector, Times(40, iteration));
    EXPECT_EQ(detector.obstacle(), Obstacle::kNone) << iteration;
    Feed(detector, Times(60, iteration));
    EXPECT_EQ(detector.obstacle(), Obstacle::kInnerWaits) << iteration;
    Feed(detector, Times(3, "..x.y.z|"));
    EXPECT_EQ(detector.obstacle(), Obstacle::kNone) << "a period is known";
  }
}

TEST(DetectorTest, SaysThatNoComputeWaits) {
  for (const std::string iteration : {".a.b.c", "a|b|c|"}) {
    Detector detector;
    Feed(detector, Times(100, iteration));
    EXPECT_EQ(detector.obstacle(), Obstacle::kNoWaits) << iteration;
  }
}

// The number of calls in an iteration comes from a generator, so that no period fits.
TEST(DetectorTest, SaysThatNothingRepeats) {
  Detector detector;
  std::uint32_t random = 1;
  std::size_t calls = 0;
  const auto go_on = [&](std::size_t until) {
    while (calls < until) {
      random = random * 1664525 + 1013904223;
      const std::uint32_t buckets = 1 + (random >> 24) % 7;
      calls += buckets + 1;
      Feed(detector, "." + Times(static_cast<int>(buckets), "a.") + "b|");
    }
  };
  go_on(1024 - 100);
  EXPECT_EQ(detector.obstacle(), Obstacle::kNone);
  go_on(1024 + 10);
  EXPECT_EQ(detector.obstacle(), Obstacle::kNoPeriod);
  Feed(detector, Times(300, "..x.y.z|"));
  EXPECT_EQ(detector.obstacle(), Obstacle::kNone);
  // A period that has lasted counts: what comes after it may be a new one.
  Feed(detector, ".a.a.b|.a.b|.a.a.a.b|");
  EXPECT_FALSE(detector.locked());
  EXPECT_EQ(detector.obstacle(), Obstacle::kNone);
}

TEST(DetectorTest, CollectivesOnTheComputeStreamInARowAreOneTurn) {
  Detector detector;
  Feed(detector, Times(3, "...a|b|c|d|e|f|"));
  EXPECT_EQ(detector.period(), 0u);
  EXPECT_EQ(Feed(detector, "...a|b|c|d|e|f|"), "EEEEEE");
  EXPECT_EQ(detector.turns_per_period(), 1u);
}

TEST(DetectorTest, LongestPeriodIsFoundAndALongerOneIsNot) {
  const auto iteration = [](std::size_t calls) {
    std::string program;
    for (std::size_t i = 0; i < calls; ++i) program += std::string(".") + static_cast<char>('A' + i % 26);
    return program + '|';
  };
  Detector found;
  Feed(found, Times(4, iteration(256)));
  EXPECT_EQ(found.period(), 256u);
  Detector lost;
  Feed(lost, Times(8, iteration(257)));
  EXPECT_EQ(lost.period(), 0u);
}

}  // namespace
}  // namespace crossover::phase
