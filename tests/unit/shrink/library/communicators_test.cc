// Tests the table of communicators.
#include "shrink/library/communicators.h"

#include <gtest/gtest.h>

#include <memory>

namespace crossover::shrink::library {
namespace {

const void* Handle(std::uintptr_t number) { return reinterpret_cast<const void*>(number * 64); }

TEST(CommunicatorsTest, OneThatWasAddedIsFound) {
  const auto table = std::make_unique<Communicators>();
  EXPECT_EQ(table->Find(Handle(1)), nullptr);
  Communicator* entry = table->Add(Handle(1), true, 7, {});
  EXPECT_EQ(table->Find(Handle(1)), entry);
  EXPECT_TRUE(entry->narrow);
  EXPECT_EQ(entry->budget_mib, 7U);
  EXPECT_EQ(entry->number, 1U);
  table->Remove(entry);
  EXPECT_EQ(table->Find(Handle(1)), nullptr);
}

TEST(CommunicatorsTest, OneBehindAnotherThatWasRemovedIsFound) {
  const auto table = std::make_unique<Communicators>();
  Communicator* first = table->Add(Handle(1), true, 1, {});
  const Communicator* second = table->Add(Handle(1 + Communicators::kMost), true, 2, {});
  table->Remove(first);
  EXPECT_EQ(table->Find(Handle(1 + Communicators::kMost)), second);
}

TEST(CommunicatorsTest, AFullTableTakesNoneUntilOneIsRemoved) {
  const auto table = std::make_unique<Communicators>();
  for (std::uintptr_t i = 1; i <= Communicators::kMost; ++i) {
    EXPECT_TRUE(table->HasRoom());
    EXPECT_NE(table->Add(Handle(i), false, 0, {}), nullptr);
  }
  EXPECT_FALSE(table->HasRoom());
  EXPECT_EQ(table->Add(Handle(1000), false, 0, {}), nullptr);
  EXPECT_EQ(table->Find(Handle(1000)), nullptr);
  table->Remove(table->Find(Handle(5)));
  EXPECT_NE(table->Add(Handle(1000), false, 0, {}), nullptr);
  EXPECT_NE(table->Find(Handle(1000)), nullptr);
}

}  // namespace
}  // namespace crossover::shrink::library
