// Tells the arbiter at once when this process dies: a thread that holds a raw robust futex word of the page.
//
// The kernel walks the robust list of each dying thread and marks the words in it, before it tears the
// address space down, which is what makes sockets and pidfds late. The list node is in private memory: nobody
// else can turn it into a write primitive. Only the arbiter waits on the word, having set FUTEX_WAITERS in
// it.
#pragma once

#include <atomic>
#include <cstdint>

namespace crossover::link {

class Liveness {
 public:
  constexpr Liveness() = default;

  // Starts a thread that stores its ID in `word` and lives until Stop() or death. Returns once the word is
  // set. False where the kernel or the thread cannot be had. One word at a time.
  bool Start(std::uint32_t* word);

  // Ends the thread in an orderly way: the word becomes 0. Returns once it is.
  void Stop();

 private:
  enum State : std::uint32_t { kIdle, kStarting, kAlive, kFailed, kStopping };

  static void* Run(void* self);
  void Hold();
  void Become(State state);
  void AwaitChangeFrom(State state);

  std::uint32_t* word_ = nullptr;
  std::uint32_t state_ = kIdle;  // accessed as a futex word
};

}  // namespace crossover::link
