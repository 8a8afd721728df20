// Tests what decides whether clients get signals.
#include <gtest/gtest.h>

#include "deviceplugin/signals/beat.h"
#include "deviceplugin/signals/erasures.h"
#include "deviceplugin/signals/offer_rule.h"
#include "deviceplugin/signals/transport.h"

namespace crossover::signals {
namespace {

TEST(Beat, AWordThatDoesNotChangeStandsStill) {
  Beat beat;
  beat.Begin(1000);
  beat.Note(7, 2000);
  EXPECT_FALSE(beat.still(2000 + Beat::kStill - 1));
  beat.Note(7, 2000 + Beat::kStill);
  EXPECT_TRUE(beat.still(2000 + Beat::kStill));
  beat.Note(6, 2000 + Beat::kStill);
  EXPECT_FALSE(beat.still(2000 + Beat::kStill)) << "a word may wrap";
}

TEST(Erasures, ManyInAShortTimeCountForAWhile) {
  Erasures erasures;
  erasures.Begin(5, 0);
  EXPECT_EQ(erasures.Note(5 + Erasures::kMany - 1, 1), Erasures::kMany - 1);
  EXPECT_FALSE(erasures.many(1));
  EXPECT_EQ(erasures.Note(5 + Erasures::kMany, 2), 1u);
  EXPECT_TRUE(erasures.many(2));
  EXPECT_TRUE(erasures.many(2 + Erasures::kFor - 1));
  EXPECT_FALSE(erasures.many(2 + Erasures::kFor));
}

TEST(Erasures, AFewInEachWindowDoNotAddUp) {
  Erasures erasures;
  erasures.Begin(0, 0);
  for (std::uint32_t i = 1; i < 10; ++i) {
    erasures.Note(i * (Erasures::kMany - 1), i * Erasures::kWithin);
    EXPECT_FALSE(erasures.many(i * Erasures::kWithin));
  }
}

TEST(Erasures, AWordThatGoesBackHasNotGrown) {
  Erasures erasures;
  erasures.Begin(1'000'000, 0);
  EXPECT_EQ(erasures.Note(3, 1), 0u);
  EXPECT_FALSE(erasures.many(1));
}

TEST(Erasures, WhatALeaverMayHaveCausedDoesNotCount) {
  Erasures erasures;
  erasures.Begin(0, 0);
  std::uint32_t count = 0;
  for (int leaver = 0; leaver < 40; ++leaver) {
    erasures.Note(count += Erasures::kOfALeaver, leaver);
    erasures.NoteLeaver();
    EXPECT_FALSE(erasures.many(leaver)) << leaver;
  }
}

TEST(Erasures, ClientsThatLeaveDoNotHideWhatGoesOn) {
  Erasures erasures;
  erasures.Begin(0, 0);
  for (int leaver = 0; leaver < 40; ++leaver) erasures.NoteLeaver();
  erasures.Note(Erasures::kMany + Erasures::kOfALeaver, 1);
  EXPECT_FALSE(erasures.many(1)) << "one look counts kMany at most";
  erasures.Note(2 * Erasures::kMany, 2);
  EXPECT_TRUE(erasures.many(2));
}

TEST(OfferRule, EachReasonIsNamed) {
  EXPECT_EQ(StateOf({}), CROSSOVER_OFFER_NO_SIGNALLER);
  EXPECT_EQ(StateOf({.followed = true}), CROSSOVER_OFFER_GIVEN);
  EXPECT_EQ(StateOf({.refused = true}), CROSSOVER_OFFER_REFUSED);
  EXPECT_EQ(StateOf({.followed = true, .still = true, .kinds_meet = true}), CROSSOVER_OFFER_STILL);
  EXPECT_EQ(StateOf({.followed = true, .erased = true}), CROSSOVER_OFFER_ERASED);
  EXPECT_EQ(StateOf({.followed = true, .kinds_meet = true}), CROSSOVER_OFFER_KINDS_MEET);
}

TEST(OfferRule, SignalsThatWereTakenBackAreGivenAgainAfterAPause) {
  OfferRule rule;
  EXPECT_EQ(rule.Advance({.followed = true}, 10), CROSSOVER_OFFER_GIVEN) << "the first time at once";
  EXPECT_EQ(rule.Advance({.followed = true, .kinds_meet = true}, 20), CROSSOVER_OFFER_KINDS_MEET);
  EXPECT_EQ(rule.Advance({.followed = true}, 21), CROSSOVER_OFFER_KINDS_MEET);
  EXPECT_EQ(rule.Advance({.followed = true, .still = true}, 22), CROSSOVER_OFFER_STILL);
  EXPECT_EQ(rule.Advance({.followed = true}, 20 + OfferRule::kPause - 1), CROSSOVER_OFFER_STILL);
  EXPECT_EQ(rule.Advance({.followed = true}, 20 + OfferRule::kPause), CROSSOVER_OFFER_GIVEN);
}

TEST(Transport, OnlyItsThreeNames) {
  EXPECT_EQ(ParseTransport("host"), Transport::kHost);
  EXPECT_EQ(ParseTransport("ipc"), Transport::kIpc);
  EXPECT_EQ(ParseTransport("auto"), Transport::kAuto);
  EXPECT_EQ(ParseTransport("IPC"), std::nullopt);
  EXPECT_TRUE(OffersSignals(Transport::kIpc));
  EXPECT_FALSE(OffersSignals(Transport::kHost));
  EXPECT_FALSE(OffersSignals(Transport::kAuto)) << "no release has a measurement";
}

}  // namespace
}  // namespace crossover::signals
