// A Mutex is constant-initialised and never destroyed: hooks run before constructors and after destructors
// of static objects.
//
// Holding it disables pthread_cancel. Code in the critical section may reach a cancellation point (a driver
// that polls, a write to a log). A thread cancelled there would never unlock the mutex.
#pragma once

#include <pthread.h>

#include "common/base/optional_libc.h"

namespace crossover::base {

// Disables cancellation of the calling thread during its lifetime. A request to cancel the thread stays
// pending.
class Uncancelled {
 public:
  Uncancelled() : before_(Set(PTHREAD_CANCEL_DISABLE)) {}
  ~Uncancelled() { Set(before_); }
  Uncancelled(const Uncancelled&) = delete;
  Uncancelled& operator=(const Uncancelled&) = delete;

  // Sets the cancellation state and returns the previous one.
  static int Set(int state) {
    int before = state;
    if (pthread_setcancelstate != nullptr) pthread_setcancelstate(state, &before);
    return before;
  }

 private:
  const int before_;
};

class Mutex {
 public:
  constexpr Mutex() = default;
  // Blocks until this thread holds the mutex. REQUIRES: this thread does not hold it yet.
  void Lock() {
    const int before = Uncancelled::Set(PTHREAD_CANCEL_DISABLE);
    pthread_mutex_lock(&mutex_);
    before_ = before;
  }
  // Takes the mutex if no thread holds it, and returns whether it did. Never blocks.
  bool TryLock() {
    const int before = Uncancelled::Set(PTHREAD_CANCEL_DISABLE);
    const bool locked = pthread_mutex_trylock(&mutex_) == 0;
    if (locked) {
      before_ = before;
    } else {
      Uncancelled::Set(before);
    }
    return locked;
  }
  // REQUIRES: this thread holds the mutex.
  void Unlock() {
    const int before = before_;
    pthread_mutex_unlock(&mutex_);
    Uncancelled::Set(before);
  }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  // This is the cancellation state that the thread which holds the mutex had before it took the mutex.
  int before_ = PTHREAD_CANCEL_ENABLE;
};

// A Locked holds a Mutex during its lifetime.
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
