// Decides when a process that does not know its memory limit asks the daemon for it: at an allocation, and
// again at a later one while there is no answer. Pure: the caller passes the time, in ns of CLOCK_MONOTONIC,
// and asks.
//
// Thread-safe without a lock: a child of fork() may get any state of its parent here, but never a held lock.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "common/base/clock.h"

namespace crossover::memory {

// A LimitQuestion is the state of that question. The process asks until it has an answer.
class LimitQuestion {
 public:
  // The process asks at most once per kOften at first. Once kPatience has passed without an answer, the pause
  // doubles each time, up to kSeldom. Each time it asks, an allocation may wait for kAnswerTime.
  static constexpr std::int64_t kOften = 500 * base::kNsPerMs;
  static constexpr std::int64_t kSeldom = 60 * base::kNsPerSecond;
  static constexpr std::int64_t kPatience = 2 * base::kNsPerSecond;
  static constexpr std::int64_t kAnswerTime = 200 * base::kNsPerMs;

  constexpr LimitQuestion() = default;

  // A Turn says what the calling thread does at an allocation.
  enum class Turn {
    kGo,    // the thread goes on: the question is answered, or is not due
    kAsk,   // the thread asks, and then calls Close() or OnNoAnswer()
    kWait,  // the thread waits a little and calls Look() again, because another thread is asking
  };
  Turn Look(std::int64_t now) {
    std::int64_t due = due_.load(std::memory_order_acquire);
    if (due == kNever) return Turn::kGo;
    if (now < due) return now < asked_until_.load(std::memory_order_acquire) ? Turn::kWait : Turn::kGo;
    asked_until_.store(now + kAnswerTime,
                       std::memory_order_release);  // first: others must not go on meanwhile
    const std::int64_t next = now + pause_.load(std::memory_order_relaxed);
    return due_.compare_exchange_strong(due, next) ? Turn::kAsk : Turn::kWait;
  }

  // Records that the question is answered, or that there is no need to ask. Look() returns kGo from then on.
  void Close() {
    due_.store(kNever, std::memory_order_release);
    asked_until_.store(0, std::memory_order_release);
  }

  // Records at `now` that there was no answer. Returns whether the caller writes this to the log: true once,
  // when the first question without an answer is kPatience old.
  bool OnNoAnswer(std::int64_t now) {
    asked_until_.store(0, std::memory_order_release);
    std::int64_t first = 0;
    first_.compare_exchange_strong(first, now);
    if (first == 0 || now - first < kPatience) return false;
    const std::int64_t pause = pause_.load(std::memory_order_relaxed);
    pause_.store(pause < kSeldom / 2 ? 2 * pause : kSeldom, std::memory_order_relaxed);
    return !told_.exchange(true, std::memory_order_relaxed);
  }

  bool closed() const { return due_.load(std::memory_order_acquire) == kNever; }

 private:
  static constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
  std::atomic<std::int64_t> due_{0};
  std::atomic<std::int64_t> asked_until_{0};  // a thread waits for the answer until then; 0: none does
  std::atomic<std::int64_t> pause_{kOften};
  std::atomic<std::int64_t> first_{0};  // when there was no answer for the first time; 0: never
  std::atomic<bool> told_{false};
};

}  // namespace crossover::memory
