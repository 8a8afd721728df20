#include "sidecar/memory/table.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

#include "sidecar/memory/accounting.h"

namespace crossover::memory {
namespace {

std::uint64_t RemoveDevice(Table<Record>* table, std::int32_t device) {
  std::uint64_t bytes = 0;
  table->RemoveAll([device](const Record& record) { return record.device == device; },
                   [&bytes](const Record& removed) { bytes += removed.bytes; });
  return bytes;
}

// Compares the table with the standard library's map. The keys collide: they are multiples of a large power
// of two, as addresses are.
TEST(TableTest, KnowsWhatAMapWouldKnow) {
  std::mt19937 random(7);
  Table<Record> table;
  std::unordered_map<std::uint64_t, std::uint64_t> map;
  for (int round = 0; round < 200'000; ++round) {
    const std::uint64_t key = (1 + random() % 3000) << 21;
    if (random() % 2 == 0) {
      map[key] = random();
      ASSERT_TRUE(table.Put({.key = key, .bytes = map[key]}));
      continue;
    }
    Record removed;
    ASSERT_EQ(table.Remove(key, &removed), map.contains(key));
    if (map.contains(key)) {
      ASSERT_EQ(removed.bytes, map[key]);
      map.erase(key);
    }
  }
  EXPECT_EQ(table.size(), map.size());
  for (const auto& [key, bytes] : map) {
    ASSERT_NE(table.Find(key), nullptr);
    EXPECT_EQ(table.Find(key)->bytes, bytes);
  }
}

TEST(TableTest, AnEmptyOneHasNothing) {
  Table<Record> table;
  Record removed;
  EXPECT_EQ(table.Find(1), nullptr);
  EXPECT_FALSE(table.Remove(1, &removed));
  EXPECT_EQ(table.Containing(1), nullptr);
  EXPECT_EQ(RemoveDevice(&table, 0), 0u);
}

TEST(TableTest, TheKeyOfEmptyPlacesIsNoAllocation) {
  Table<Record> table;
  ASSERT_TRUE(table.Put({.key = 1}));
  Record removed;
  EXPECT_EQ(table.Find(0), nullptr);
  EXPECT_FALSE(table.Remove(0, &removed));
  EXPECT_EQ(table.size(), 1u);
}

TEST(TableTest, RemovesAllThatAreNamed) {
  Table<Record> table;
  for (std::uint64_t key = 1; key <= 1000; ++key)
    ASSERT_TRUE(table.Put({.key = key << 21, .bytes = 1, .device = static_cast<std::int32_t>(key % 4)}));
  EXPECT_EQ(RemoveDevice(&table, 2), 250u);
  EXPECT_EQ(RemoveDevice(&table, 2), 0u);
  EXPECT_EQ(table.size(), 750u);
  for (std::uint64_t key = 1; key <= 1000; ++key) EXPECT_EQ(table.Find(key << 21) == nullptr, key % 4 == 2);
}

TEST(TableTest, FindsWhatHoldsAnAddress) {
  Table<Record> table;
  ASSERT_TRUE(table.Put({.key = 4096, .bytes = 100}));
  EXPECT_EQ(table.Containing(4195), table.Find(4096));
  EXPECT_EQ(table.Containing(4196), nullptr);
  EXPECT_EQ(table.Containing(4095), nullptr);
}

}  // namespace
}  // namespace crossover::memory
