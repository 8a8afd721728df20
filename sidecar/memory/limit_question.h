// Decides when a process that does not know its limit asks the daemon for it: at an allocation, and again at
// a later one while there is no answer. Pure: the caller brings the time, in ns of CLOCK_MONOTONIC, and asks.
//
// Thread-safe without a lock: a child of fork() may find any state of its parent here.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>

#include "common/base/clock.h"

namespace crossover::memory {

// A LimitQuestion is put until it is answered.
class LimitQuestion {
 public:
  // It is put at most so often, at first; once kPatience has passed, twice as long lies between two times as
  // before, up to kSeldom. Each time may cost an allocation kAnswerTime.
  static constexpr std::int64_t kOften = 500 * base::kNsPerMs;
  static constexpr std::int64_t kSeldom = 60 * base::kNsPerSecond;
  static constexpr std::int64_t kPatience = 2 * base::kNsPerSecond;
  static constexpr std::int64_t kAnswerTime = 200 * base::kNsPerMs;

  constexpr LimitQuestion() = default;

  // A Turn says what the calling thread does at an allocation.
  enum class Turn {
    kGo,    // nothing: the question is answered, or is not due
    kAsk,   // it puts the question, and reports the end of that
    kWait,  // it waits a little and looks again: another thread puts the question
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

  // Records that the question is answered, or need not be put. It is put no more.
  void Close() {
    due_.store(kNever, std::memory_order_release);
    asked_until_.store(0, std::memory_order_release);
  }

  // Records that a question that was put at `now` or before has no answer. Returns whether this is to be
  // told: once, when the first question without an answer is kPatience old.
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
  std::atomic<std::int64_t> first_{0};  // when the first question had no answer
  std::atomic<bool> told_{false};
};

}  // namespace crossover::memory
