#include "deviceplugin/books/feed.h"

#include <gtest/gtest.h>

#include <thread>

#include "deviceplugin/books/books.h"

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
  TurnFeed feed;
  for (turn::Time at = 1; at <= 3; ++at) feed.Put(EventAt(at));
  const TurnFeed::Batch batch = feed.Take(kLong);
  ASSERT_EQ(batch.events.size(), 3u);
  EXPECT_EQ(batch.events[0].at, 1);
  EXPECT_EQ(batch.events[2].at, 3);
  EXPECT_EQ(batch.dropped, 0u);
  EXPECT_TRUE(feed.Take(milliseconds(0)).events.empty());
}

TEST(FeedTest, TheOldestAreDroppedAndCounted) {
  TurnFeed feed;
  for (turn::Time at = 0; at < static_cast<turn::Time>(TurnFeed::kMost) + 10; ++at) feed.Put(EventAt(at));
  const TurnFeed::Batch batch = feed.Take(kLong);
  EXPECT_EQ(batch.dropped, 10u);
  ASSERT_EQ(batch.events.size(), TurnFeed::kMost);
  EXPECT_EQ(batch.events.front().at, 10);
  feed.Put(EventAt(0));
  EXPECT_EQ(feed.Take(kLong).dropped, 0u) << "each is told once";
}

TEST(FeedTest, AWaiterIsWoken) {
  TurnFeed feed;
  std::thread putter([&feed] { feed.Put(EventAt(1)); });
  EXPECT_EQ(feed.Take(kLong).events.size(), 1u);
  putter.join();
  std::thread ender([&feed] { feed.End(); });
  EXPECT_TRUE(feed.Take(kLong).ended);
  ender.join();
}

TEST(BooksTest, WatchersAreToldOfTurnsAndNotOfTheArbitersWork) {
  Books books;
  const auto feed = books.Watch();
  ASSERT_NE(feed, nullptr);
  for (const auto kind :
       {arbiter::EventKind::kMint, arbiter::EventKind::kHold, arbiter::EventKind::kStep,
        arbiter::EventKind::kRelease, arbiter::EventKind::kGrant, arbiter::EventKind::kRevoke,
        arbiter::EventKind::kSwallow, arbiter::EventKind::kMeasure}) {
    arbiter::Event event = EventAt(1);
    event.kind = kind;
    books.OnEvent(event);
  }
  const TurnFeed::Batch batch = feed->Take(kLong);
  ASSERT_EQ(batch.events.size(), 2u);
  EXPECT_EQ(batch.events[0].kind, arbiter::EventKind::kHold);
  EXPECT_EQ(batch.events[1].kind, arbiter::EventKind::kRelease);
}

TEST(BooksTest, WatchersAreBoundedAndMakeRoomWhenTheyGo) {
  Books books;
  std::vector<std::shared_ptr<TurnFeed>> feeds;
  for (std::size_t i = 0; i < Books::kMostWatchers; ++i) feeds.push_back(books.Watch());
  EXPECT_EQ(books.Watch(), nullptr);
  feeds.pop_back();
  feeds.push_back(books.Watch());
  EXPECT_NE(feeds.back(), nullptr);
  books.EndWatches();
  for (const auto& feed : feeds) EXPECT_TRUE(feed->Take(kLong).ended);
  feeds.clear();
  EXPECT_EQ(books.Watch(), nullptr) << "nothing comes any more";
}

}  // namespace
}  // namespace crossover::deviceplugin
