// Does something again and again, on a thread of its own, until it is destroyed.
#pragma once

#include <pthread.h>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace crossover::threads {

class Rounds {
 public:
  // `name`: of the thread, at most 15 characters. The first round comes after one `period`.
  Rounds(const char* name, std::chrono::milliseconds period, std::function<void()> round)
      : period_(period), round_(std::move(round)), thread_([this] { Run(); }) {
    pthread_setname_np(thread_.native_handle(), name);
  }
  // A round that is under way ends first.
  ~Rounds() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  Rounds(const Rounds&) = delete;
  Rounds& operator=(const Rounds&) = delete;

 private:
  void Run() {
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
  std::thread thread_;  // last: it uses the others
};

}  // namespace crossover::threads
