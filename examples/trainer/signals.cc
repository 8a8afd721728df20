#include "examples/trainer/signals.h"

#include <signal.h>
#include <unistd.h>

#include <chrono>

namespace crossover::trainer {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr int kWake = SIGUSR2;  // harmless: it also resumes

sigset_t Handled() {
  sigset_t set;
  sigemptyset(&set);
  for (int signal : {SIGTERM, SIGINT, SIGUSR1, SIGUSR2}) sigaddset(&set, signal);
  return set;
}

bool Exists(const std::string& file) { return !file.empty() && access(file.c_str(), F_OK) == 0; }

}  // namespace

Signals::Signals() {
  const sigset_t set = Handled();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  thread_ = std::thread([this] { Run(); });
}

Signals::~Signals() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
    unblock_ = nullptr;
  }
  changed_.notify_all();
  pthread_kill(thread_.native_handle(), kWake);
  thread_.join();
}

void Signals::Run() {
  const sigset_t set = Handled();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0) continue;
    {
      const std::lock_guard lock(mutex_);
      if (done_) return;
      if (signal == SIGUSR1) paused_ = true;
      if (signal == SIGUSR2) paused_ = false;
      if (signal == SIGTERM || signal == SIGINT) stop_ = true;
    }
    changed_.notify_all();
    if (stop_) return HandleStop();
  }
}

void Signals::HandleStop() {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, seconds(1), [this] { return done_; })) return;
  // Hold the lock meanwhile: once OnStuckStop({}) returns, the old function runs no more.
  if (unblock_) unblock_();
  if (changed_.wait_for(lock, seconds(5), [this] { return done_; })) return;
  _exit(128 + SIGTERM);  // nothing else helps
}

bool Signals::WaitWhilePaused(const std::string& pause_file) {
  std::unique_lock lock(mutex_);
  bool waited = false;
  while (!stop_ && (paused_ || Exists(pause_file))) {
    waited = true;
    // A file sends no notification, so look again now and then.
    changed_.wait_for(lock, paused_ ? milliseconds(1000) : milliseconds(1));
  }
  return waited;
}

void Signals::Sleep(double duration_ms) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, std::chrono::duration<double, std::milli>(duration_ms),
                    [this] { return stop_.load(); });
}

void Signals::OnStuckStop(std::function<void()> unblock) {
  const std::lock_guard lock(mutex_);
  unblock_ = std::move(unblock);
}

}  // namespace crossover::trainer
