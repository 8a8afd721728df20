// Tells the arbiter at once when this process dies: a thread holds a raw robust futex word of the page.
//
// The kernel walks the robust list of each dying thread and marks the words in it. It does so before it tears
// down the address space, which takes long. Sockets and pidfds tell only after that. The list node is in
// private memory: no other process can use it to make the kernel write elsewhere. Only the arbiter waits on
// the word, after it has set FUTEX_WAITERS in it.
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::arbiter_client {

// A Liveness runs the thread that holds the word. Not thread-safe: the arbiter thread calls it.
class Liveness {
 public:
  constexpr Liveness() = default;

  // Starts a thread that stores its ID in `word` and lives until Stop() or the death of the process. Returns
  // true once the word is set. Returns false if the kernel refuses, or no thread can be started. REQUIRES: no
  // other word is held.
  bool Start(std::uint32_t* word);

  // Ends the thread in an orderly way. Returns once the word is 0.
  void Stop();

 private:
  enum State : std::uint32_t { kIdle, kStarting, kAlive, kFailed, kStopping };

  static void* Run(void* self);
  void Hold();
  void Become(State state);
  void AwaitChangeFrom(State state);

  std::uint32_t* word_ = nullptr;
  std::uint32_t state_ = kIdle;  // futex word
};

}  // namespace crossover::arbiter_client
