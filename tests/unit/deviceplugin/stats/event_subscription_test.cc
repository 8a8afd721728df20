#include "deviceplugin/stats/event_subscription.h"

#include <gtest/gtest.h>

#include <thread>

#include "deviceplugin/stats/stats_store.h"

namespace crossover::deviceplugin {
namespace {

using std::chrono::milliseconds;
constexpr milliseconds kLong{60'000};

arbiter::Event EventAt(turn::Time at) {
  return {.kind = arbiter::EventKind::kHold,
          .at = at,
          .gpu = std::make_shared<arbiter::GpuInfo>(),
          .member = nullptr};
}

TEST(FeedTest, GivesWhatWasPutInOrder) {
  EventSubscription subscription;
  for (turn::Time at = 1; at <= 3; ++at) subscription.Put(EventAt(at));
  const EventSubscription::Batch batch = subscription.Take(kLong);
  ASSERT_EQ(batch.events.size(), 3u);
  EXPECT_EQ(batch.events[0].at, 1);
  EXPECT_EQ(batch.events[2].at, 3);
  EXPECT_EQ(batch.dropped, 0u);
  EXPECT_TRUE(subscription.Take(milliseconds(0)).events.empty());
}

TEST(FeedTest, TheOldestAreDroppedAndCounted) {
  EventSubscription subscription;
  for (turn::Time at = 0; at < 1034; ++at) subscription.Put(EventAt(at));
  const EventSubscription::Batch batch = subscription.Take(kLong);
  EXPECT_EQ(batch.dropped, 10u);
  ASSERT_EQ(batch.events.size(), 1024u);
  EXPECT_EQ(batch.events.front().at, 10);
  subscription.Put(EventAt(0));
  EXPECT_EQ(subscription.Take(kLong).dropped, 0u) << "each is told once";
}

TEST(FeedTest, AWaiterIsWoken) {
  EventSubscription subscription;
  std::thread putter([&subscription] { subscription.Put(EventAt(1)); });
  EXPECT_EQ(subscription.Take(kLong).events.size(), 1u);
  putter.join();
  std::thread ender([&subscription] { subscription.End(); });
  EXPECT_TRUE(subscription.Take(kLong).ended);
  ender.join();
}

TEST(StatsStoreTest, WatchersAreToldOfTurnsAndNotOfTheArbitersWork) {
  StatsStore stats_store;
  const auto subscription = stats_store.Watch();
  ASSERT_NE(subscription, nullptr);
  for (const auto kind :
       {arbiter::EventKind::kMint, arbiter::EventKind::kHold, arbiter::EventKind::kStep,
        arbiter::EventKind::kRelease, arbiter::EventKind::kGrant, arbiter::EventKind::kRevoke,
        arbiter::EventKind::kSwallow, arbiter::EventKind::kMeasure}) {
    arbiter::Event event = EventAt(1);
    event.kind = kind;
    stats_store.OnEvent(event);
  }
  const EventSubscription::Batch batch = subscription->Take(kLong);
  ASSERT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.events[0].kind, arbiter::EventKind::kHold);
  EXPECT_EQ(batch.events[1].kind, arbiter::EventKind::kRelease);
}

TEST(StatsStoreTest, WatchersAreBoundedAndMakeRoomWhenTheyGo) {
  StatsStore stats_store;
  std::vector<std::shared_ptr<EventSubscription>> subscriptions;
  for (int i = 0; i < 16; ++i) subscriptions.push_back(stats_store.Watch());
  EXPECT_EQ(stats_store.Watch(), nullptr);
  subscriptions.pop_back();
  subscriptions.push_back(stats_store.Watch());
  EXPECT_NE(subscriptions.back(), nullptr);
  stats_store.EndWatches();
  for (const auto& subscription : subscriptions) EXPECT_TRUE(subscription->Take(kLong).ended);
  subscriptions.clear();
  EXPECT_EQ(stats_store.Watch(), nullptr) << "nothing comes any more";
}

}  // namespace
}  // namespace crossover::deviceplugin
