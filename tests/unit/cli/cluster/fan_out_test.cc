#include "cli/cluster/fan_out.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <stdexcept>
#include <thread>

namespace crossover::cli {
namespace {

using nlohmann::json;

TEST(FanOutTest, AnswersComeInTheOrderOfTheItemsAndFewAreAskedAtATime) {
  std::vector<json> items;
  for (int i = 0; i < 200; ++i) items.emplace_back(i);
  std::atomic<int> asked = 0, most = 0;
  const auto answers = FanOut(items, 4, [&](const json& item) {
    const int now = ++asked;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that all calls that may run at a time do
    for (int before = most; before < now && !most.compare_exchange_weak(before, now);) {
    }
    --asked;
    return json(item.get<int>() * 2);
  });
  ASSERT_EQ(answers.size(), items.size());
  for (int i = 0; i < 200; ++i) EXPECT_EQ(answers[static_cast<std::size_t>(i)], 2 * i);
  EXPECT_LE(most, 4);
}

TEST(FanOutTest, AsManyAreAskedAtATimeAsMayBe) {
  std::latch all(4);  // no call answers before all four have begun
  const auto answers = FanOut(std::vector<json>(4), 4, [&all](const json&) {
    all.arrive_and_wait();
    return json(true);
  });
  EXPECT_EQ(answers, std::vector<json>(4, json(true)));
}

TEST(FanOutTest, WhatOneThrowsIsItsAnswer) {
  const auto answers = FanOut({1, 2, 3}, 2, [](const json& item) -> json {
    if (item == 2) throw std::runtime_error("no room");
    return item;
  });
  EXPECT_EQ(answers, std::vector<json>({1, {{"error", "no room"}}, 3}));
}

TEST(FanOutTest, NoneIsAskedWhereThereIsNone) {
  EXPECT_TRUE(FanOut({}, 16, [](const json&) { return json(); }).empty());
}

}  // namespace
}  // namespace crossover::cli
