// Handles signals. SIGTERM and SIGINT end the training cleanly, SIGUSR1 pauses it, SIGUSR2 resumes it. A
// separate thread takes the signals, so they interrupt no system call.
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
  // Blocks the signals in the calling thread and in all threads that it starts later. So make this object
  // first.
  Signals();
  ~Signals();
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  bool stop() const { return stop_.load(); }

  // Blocks while a signal or `pause_file` (if not empty) pauses the training and stop() is false. Returns
  // true if it waited.
  bool WaitWhilePaused(const std::string& pause_file);
  // Blocks for that long, or until stop().
  void Sleep(double milliseconds);

  // Sets the function that unblocks the training. The signal thread calls it if the training has not ended
  // one second after a stop. It must make blocked calls of the training return. An empty function means
  // that nothing is called any more.
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
