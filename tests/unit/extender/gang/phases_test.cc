#include "extender/gang/phases.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <set>
#include <utility>

#include "extender/gang/reconcile.h"

namespace crossover::extender {
namespace {

constexpr std::array kPodCounts = {PodPhase::kUnreserved,  PodPhase::kReserved, PodPhase::kReleased,
                                   PodPhase::kPassedGated, PodPhase::kPassed,   PodPhase::kPosted,
                                   PodPhase::kUnsure};
constexpr std::array kPodEvents = {PodEvent::kReserved, PodEvent::kReleased, PodEvent::kPassed,
                                   PodEvent::kPosted,   PodEvent::kLost,     PodEvent::kBound,
                                   PodEvent::kRefused,  PodEvent::kPlanned};

TEST(PodPhaseTest, EachEventInEachPhase) {
  using enum PodPhase;
  const std::map<std::pair<PodPhase, PodEvent>, PodPhase> table = {
      {{kUnreserved, PodEvent::kReserved}, kReserved}, {{kReserved, PodEvent::kReleased}, kReleased},
      {{kPassedGated, PodEvent::kReleased}, kPassed},  {{kReserved, PodEvent::kPassed}, kPassedGated},
      {{kReleased, PodEvent::kPassed}, kPassed},       {{kPassed, PodEvent::kPosted}, kPosted},
      {{kPosted, PodEvent::kLost}, kUnsure},           {{kUnsure, PodEvent::kBound}, kPosted},
      {{kPosted, PodEvent::kRefused}, kPassed},        {{kUnsure, PodEvent::kRefused}, kPassed}};
  for (const PodPhase phase : kPodCounts) {
    for (const PodEvent event : kPodEvents) {
      const auto row = table.find({phase, event});
      const PodPhase expected = event == PodEvent::kPlanned ? kUnreserved
                                : row == table.end()        ? phase
                                                            : row->second;
      EXPECT_EQ(Next(phase, event), expected)
          << "phase " << static_cast<int>(phase) << ", event " << static_cast<int>(event);
    }
  }
}

// Flags say the same as a PodPhase, one fact each.
struct Flags {
  bool reserved = false, released = false, passed = false, posted = false, unsure = false;

  // Returns whether the event can come now. Its conditions are those of plan_executor.cc and gangs.cc.
  bool MayCome(PodEvent event) const {
    switch (event) {
      case PodEvent::kReserved:
        return !reserved;
      case PodEvent::kReleased:
        return reserved && !released;
      case PodEvent::kPassed:
        return reserved;
      case PodEvent::kPosted:
        return reserved && released && (passed || posted);
      case PodEvent::kLost:
      case PodEvent::kBound:
      case PodEvent::kRefused:
        return posted;
      case PodEvent::kPlanned:
        break;
    }
    return true;
  }
  void Note(PodEvent event) {
    if (event == PodEvent::kReserved) reserved = true;
    if (event == PodEvent::kReleased) released = true;
    if (event == PodEvent::kPassed) passed = true;
    if (event == PodEvent::kPosted) posted = true;
    if (event == PodEvent::kLost) unsure = true;
    if (event == PodEvent::kBound) unsure = false;
    if (event == PodEvent::kRefused) posted = unsure = false;
    if (event == PodEvent::kPlanned) *this = {};
  }
  friend auto operator<=>(const Flags&, const Flags&) = default;
};

// Goes through all that can follow from a new pod, whatever the order of the events.
TEST(PodPhaseTest, SaysTheSameAsAFlagForEachFact) {
  std::set<std::pair<PodPhase, Flags>> seen = {{PodPhase::kUnreserved, {}}};
  auto to_visit = seen;
  std::set<PodPhase> phases;
  while (!to_visit.empty()) {
    const auto [phase, flags] = to_visit.extract(to_visit.begin()).value();
    phases.insert(phase);
    EXPECT_EQ(IsReserved(phase), flags.reserved) << static_cast<int>(phase);
    EXPECT_EQ(IsReleased(phase), flags.released) << static_cast<int>(phase);
    EXPECT_EQ(HasPassed(phase), flags.passed || flags.posted) << static_cast<int>(phase);
    EXPECT_EQ(IsPosted(phase), flags.posted) << static_cast<int>(phase);
    EXPECT_EQ(phase == PodPhase::kUnsure, flags.unsure) << static_cast<int>(phase);
    for (const PodEvent event : kPodEvents) {
      if (!flags.MayCome(event)) continue;
      std::pair<PodPhase, Flags> next{Next(phase, event), flags};
      next.second.Note(event);
      if (seen.insert(next).second) to_visit.insert(next);
    }
  }
  EXPECT_EQ(phases.size(), kPodCounts.size()) << "each phase can be reached";
}

TEST(EvictionTest, EachEventInEachState) {
  using enum Eviction;
  const auto after = [](Eviction state) {
    return std::array{Next(state, EvictionEvent::kBegun), Next(state, EvictionEvent::kAccepted),
                      Next(state, EvictionEvent::kTakenBack)};
  };
  EXPECT_EQ(after(kNone), (std::array{kBegun, kSeatKept, kNone}));
  EXPECT_EQ(after(kBegun), (std::array{kBegun, kAccepted, kNone}));
  EXPECT_EQ(after(kAccepted), (std::array{kAccepted, kAccepted, kSeatKept}));
  EXPECT_EQ(after(kSeatKept), (std::array{kSeatKept, kSeatKept, kSeatKept}));
  EXPECT_TRUE(Leaves(kBegun) && Leaves(kAccepted) && !Leaves(kNone) && !Leaves(kSeatKept));
  EXPECT_TRUE(IsAccepted(kAccepted) && IsAccepted(kSeatKept) && !IsAccepted(kNone) && !IsAccepted(kBegun));
}

TEST(PlanPhaseTest, APlanThatFailsGoesToItsEnd) {
  using enum PlanPhase;
  const auto after = [](PlanPhase phase) {
    return std::array{Next(phase, PlanEvent::kAllReserved), Next(phase, PlanEvent::kFailed),
                      Next(phase, PlanEvent::kDeadlinePassed)};
  };
  EXPECT_EQ(after(kReserving), (std::array{kOpen, kFailing, kLate}));
  EXPECT_EQ(after(kOpen), (std::array{kOpen, kFailing, kLate}));
  EXPECT_EQ(after(kFailing), (std::array{kFailing, kFailing, kFailing}));
  EXPECT_EQ(after(kLate), (std::array{kLate, kLate, kLate}));
  EXPECT_TRUE(IsFailing(kFailing) && IsFailing(kLate) && !IsFailing(kOpen) && !IsFailing(kReserving));
}

TEST(GangPhaseTest, TheFirstReasonCounts) {
  GangStore store;
  GangRecord gang;
  gang.membership.id = "a";
  Head head;
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kEnded);
  head.living = head.waiting = 2;
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kSizeUnknown);
  gang.membership.fault = "its size is no number";
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kGathering) << "a fault has to be told";
  gang.membership.fault.clear();
  gang.membership.size = 2;
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kGathering);
  for (const Demand demand : {Demand::kAll, Demand::kLeast}) {
    gang.demand = demand;
    EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kReady);
  }
  head.bound = 1;
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kRunning);
  gang.plan.emplace();
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kPlanned);
  store.held["a"] = "b";
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kHeld);
  gang.departure.emplace();
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kLeaving);
  gang.membership.size = 0;
  EXPECT_EQ(PhaseOf(store, gang, head), GangPhase::kSizeUnknown);
}

TEST(CompletionTest, WhatIsRecordedMayHaveToBeRecordedAnew) {
  GangRecord gang;
  gang.NoteUnrecorded();
  EXPECT_EQ(gang.completion, Completion::kNever);
  gang.NotePlaced();
  EXPECT_EQ(gang.completion, Completion::kOnce);
  gang.completion = Completion::kRecorded;
  gang.NotePlaced();
  EXPECT_EQ(gang.completion, Completion::kRecorded);
  gang.NoteUnrecorded();
  EXPECT_EQ(gang.completion, Completion::kOnce);
}

}  // namespace
}  // namespace crossover::extender
