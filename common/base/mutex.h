// A mutex that is constant-initialised and never destroyed: hooks run before constructors and after
// destructors of static objects.
#pragma once

#include <pthread.h>

#include "common/base/optional_libc.h"

namespace crossover::base {

class Mutex {
 public:
  constexpr Mutex() = default;
  void Lock() { pthread_mutex_lock(&mutex_); }
  bool TryLock() { return pthread_mutex_trylock(&mutex_) == 0; }
  void Unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Locked {
 public:
  explicit Locked(Mutex& mutex) : mutex_(mutex) { mutex_.Lock(); }
  ~Locked() { mutex_.Unlock(); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  Mutex& mutex_;
};

}  // namespace crossover::base
