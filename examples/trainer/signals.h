// SIGTERM and SIGINT end the training cleanly, SIGUSR1 pauses it, SIGUSR2 resumes it. A thread of its own
// takes the signals, so that they interrupt nothing.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace crossover::trainer {

class Signals {
 public:
  // Blocks the signals in the calling thread and in all that it starts later: make it first.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  bool stop() const { return stop_.load(); }

  // Returns when neither a signal nor `pause_file` (if not empty) holds the training, or stop() is true.
  // True if it waited.
  bool WaitWhilePaused(const std::string& pause_file);
  // Waits that long, or until stop().
  void Sleep(double milliseconds);

  // If the training has not ended one second after a stop, `unblock` is called from the signal thread: it
  // must make blocked calls of the training return. An empty function means nothing is to be called any more.
  void OnStuckStop(std::function<void()> unblock);

 private:
  void Run();
  void HandleStop();

  std::atomic<bool> stop_{false};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool paused_ = false;
  bool done_ = false;
  std::function<void()> unblock_;
  std::thread thread_;
};

}  // namespace crossover::trainer
