// Tests what several threads of a process use at once.
#include <gtest/gtest.h>

#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "shrink/library/communicators.h"
#include "shrink/library/found.h"
#include "shrink/library/report.h"

namespace crossover::shrink::library {
namespace {

constexpr std::uintptr_t kThreads = 4;
constexpr std::uint32_t kTimes = 200;

// Runs the work in all threads, which begin at the same time.
void InThreads(const std::function<void(std::uintptr_t thread)>& work) {
  std::latch all(kThreads);
  std::vector<std::thread> threads;
  for (std::uintptr_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      all.arrive_and_wait();
      work(i);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

constexpr auto kLevel = static_cast<std::size_t>(base::ShrinkLevel::kQ8);
constexpr auto kReason = static_cast<std::size_t>(base::PlainReason::kBudget);

std::vector<crossover_reductions> taken;
void Take(const crossover_reductions* report) { taken.push_back(*report); }
Reporter Find() { return &Take; }

TEST(ThreadsTest, NoOlderReportFollowsANewerOne) {
  taken.clear();
  Report report(&Find);
  InThreads([&](std::uintptr_t) {
    for (std::uint32_t i = 0; i < kTimes; ++i) {
      report.Narrowed(base::ShrinkLevel::kQ8, {});
      report.Plain(base::PlainReason::kBudget, {});
    }
  });
  ASSERT_EQ(taken.size(), 2 * kThreads * kTimes);
  for (std::size_t i = 0; i < taken.size(); ++i)
    ASSERT_EQ(taken[i].narrowed[kLevel] + taken[i].plain[kReason], i + 1);
}

TEST(ThreadsTest, EachThreadFindsItsCommunicatorsAlone) {
  const auto table = std::make_unique<Communicators>();
  InThreads([&](std::uintptr_t thread) {
    for (std::uint32_t i = 0; i < kTimes; ++i) {
      // All handles want the same entry.
      const auto* handle = reinterpret_cast<const void*>((thread + 1) * 64 * Communicators::kMost);
      ASSERT_TRUE(table->HasRoom());
      Communicator* added = table->Add(handle, true, static_cast<std::uint32_t>(thread), {});
      ASSERT_NE(added, nullptr);
      ASSERT_EQ(table->Find(handle), added);
      ASSERT_EQ(added->budget_mib, thread);
      table->Remove(added);
      ASSERT_EQ(table->Find(handle), nullptr);
    }
  });
}

struct Functions {
  int first = 0, last = 0;
};

TEST(ThreadsTest, FunctionsAreWholeOnceTheyAreFound) {
  for (std::uint32_t i = 0; i < kTimes; ++i) {
    Found<Functions> found;
    int searches = 0;  // the lock guards it
    InThreads([&](std::uintptr_t) {
      for (;;) {
        const Functions* functions = found.Get([&](Functions* into) {
          into->first = 1;
          if (++searches < 3) return false;
          into->last = 1;
          return true;
        });
        if (functions == nullptr) continue;
        ASSERT_EQ(functions->first + functions->last, 2);
        return;
      }
    });
    ASSERT_EQ(searches, 3);
  }
}

}  // namespace
}  // namespace crossover::shrink::library
