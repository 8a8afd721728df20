// Replaces the library's own header. Each launch reads this word, and the read takes a mutex and makes a
// system call.
#pragma once

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace crossover::session {

class HookFlagsWord {
 public:
  constexpr explicit HookFlagsWord(std::uint32_t value) : word_(value) {}
  std::uint32_t load(std::memory_order order) {
    pthread_mutex_lock(&mutex_);
    ::syscall(SYS_getpid);
    pthread_mutex_unlock(&mutex_);
    return word_.load(order);
  }
  void store(std::uint32_t value, std::memory_order order) { word_.store(value, order); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<std::uint32_t> word_;
};

}  // namespace crossover::session
