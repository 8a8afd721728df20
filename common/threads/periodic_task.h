// Calls a function periodically on a thread of its own, until the object is destroyed.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace crossover::threads {

class PeriodicTask {
 public:
  enum class First { kAfterPeriod, kAtOnce };  // when the first call comes

  // `name` is the name of the thread, at most 15 characters.
  PeriodicTask(const char* name, std::chrono::milliseconds period, std::function<void()> round,
               First first = First::kAfterPeriod)
      : period_(period), round_(std::move(round)), thread_([this, first] { Run(first); }) {
    pthread_setname_np(thread_.native_handle(), name);
  }
  // Blocks until the call in progress, if any, has returned.
  ~PeriodicTask() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  PeriodicTask(const PeriodicTask&) = delete;
  PeriodicTask& operator=(const PeriodicTask&) = delete;

 private:
  void Run(First first) {
    if (first == First::kAtOnce) round_();
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, period_, [this] { return stop_; })) {
      lock.unlock();
      round_();
      lock.lock();
    }
  }

  const std::chrono::milliseconds period_;
  const std::function<void()> round_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;  // last: the thread uses the other members
};

}  // namespace crossover::threads
