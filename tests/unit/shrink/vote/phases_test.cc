#include "shrink/vote/phases.h"

#include <gtest/gtest.h>

#include <map>
#include <utility>

namespace crossover::shrink::vote {
namespace {

TEST(CollectorPhase, EachEventInEachPhase) {
  using enum CollectorEvent;
  const std::map<CollectorEvent, CollectorPhase> from_gathers = {{kAgrees, CollectorPhase::kGathers},
                                                                 {kCompletes, CollectorPhase::kNarrow},
                                                                 {kRefuses, CollectorPhase::kPlain},
                                                                 {kLost, CollectorPhase::kPlain},
                                                                 {kTimeLimit, CollectorPhase::kPlain}};
  for (const auto& [event, expected] : from_gathers) {
    EXPECT_EQ(Next(CollectorPhase::kGathers, event), expected);
    EXPECT_EQ(Next(CollectorPhase::kNarrow, event), CollectorPhase::kNarrow);
    EXPECT_EQ(Next(CollectorPhase::kPlain, event), CollectorPhase::kPlain);
  }
}

TEST(VoterPhase, EachEventInEachPhase) {
  using enum VoterPhase;
  using Row = std::pair<VoterPhase, VoterPhase>;  // from kConnects, and from kWaits
  const std::map<VoterEvent, Row> table = {
      {VoterEvent::kGreeted, {kWaits, kWaits}},        {VoterEvent::kSaysNo, {kPlain, kWaits}},
      {VoterEvent::kUnreachable, {kPlain, kWaits}},    {VoterEvent::kBroken, {kPlain, kFailed}},
      {VoterEvent::kSendFailed, {kConnects, kFailed}}, {VoterEvent::kLost, {kPlain, kFailed}},
      {VoterEvent::kTimeLimit, {kPlain, kFailed}},     {VoterEvent::kPlain, {kConnects, kPlain}},
      {VoterEvent::kNarrow, {kConnects, kNarrow}}};
  for (const auto& [event, row] : table) {
    EXPECT_EQ(Next(kConnects, event), row.first) << static_cast<int>(event);
    EXPECT_EQ(Next(kWaits, event), row.second) << static_cast<int>(event);
    for (const VoterPhase end : {kPlain, kNarrow, kFailed}) EXPECT_EQ(Next(end, event), end);
  }
}

// A rank that has said hello never comes to run plain without a verdict.
TEST(VoterPhase, OnlyAVerdictLetsARankContinueThatSaidHello) {
  for (int event = 0; event <= static_cast<int>(VoterEvent::kNarrow); ++event) {
    const auto as_event = static_cast<VoterEvent>(event);
    if (as_event == VoterEvent::kPlain || as_event == VoterEvent::kNarrow) continue;
    EXPECT_FALSE(Continues(Next(VoterPhase::kWaits, as_event))) << event;
  }
}

TEST(GangMemory, ARefusalIsRemembered) {
  using enum GangMemory;
  EXPECT_EQ(Next(kVotes, VoterPhase::kNarrow), kVotes);
  EXPECT_EQ(Next(kVotes, VoterPhase::kPlain), kRefused);
  EXPECT_EQ(Next(kVotes, VoterPhase::kFailed), kRefused);
  EXPECT_EQ(Next(kRefused, VoterPhase::kNarrow), kRefused);
}

TEST(Start, FollowsFromTheCallAndTheMemory) {
  for (const GangMemory memory : {GangMemory::kVotes, GangMemory::kRefused}) {
    EXPECT_EQ(StartOf(Origin::kSplit, 2, memory), Start::kInherits);
    EXPECT_EQ(StartOf(Origin::kShrink, 2, memory), Start::kInherits);
    EXPECT_EQ(StartOf(Origin::kGrow, 2, memory), Start::kPlain);
    EXPECT_EQ(StartOf(Origin::kOther, 2, memory), Start::kPlain);
    EXPECT_EQ(StartOf(Origin::kInit, 1, memory), Start::kPlain);
  }
  EXPECT_EQ(StartOf(Origin::kInit, 2, GangMemory::kVotes), Start::kVotes);
  EXPECT_EQ(StartOf(Origin::kInit, 2, GangMemory::kRefused), Start::kPlain);
}

}  // namespace
}  // namespace crossover::shrink::vote
