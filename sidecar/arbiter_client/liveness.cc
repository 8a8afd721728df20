#include "sidecar/arbiter_client/liveness.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/threads/thread.h"

namespace crossover::arbiter_client {

bool Liveness::Start(std::uint32_t* word) {
  word_ = word;
  Become(kStarting);
  if (!threads::StartThread(&Liveness::Run, this)) {
    Become(kIdle);
    return false;
  }
  AwaitChangeFrom(kStarting);
  return base::LoadWord(&state_) == kAlive;
}

void Liveness::Stop() {
  if (base::LoadWord(&state_) != kAlive) return;
  Become(kStopping);
  AwaitChangeFrom(kStopping);
}

void* Liveness::Run(void* self) {
  threads::NameThread();
  static_cast<Liveness*>(self)->Hold();
  return nullptr;
}

void Liveness::Hold() {
  robust_list node{};
  robust_list_head head{};
  std::uint32_t* const word = word_;
  head.list.next = &node;
  node.next = &head.list;
  head.futex_offset = reinterpret_cast<char*>(word) - reinterpret_cast<char*>(&node);
  if (::syscall(SYS_set_robust_list, &head, sizeof head) != 0) {
    Become(kFailed);
    return;
  }
  base::StoreWord(word, static_cast<std::uint32_t>(::syscall(SYS_gettid)));
  Become(kAlive);
  AwaitChangeFrom(kAlive);
  // The kernel reads the list once more when this thread ends, but `head` is gone then: take it out.
  ::syscall(SYS_set_robust_list, nullptr, sizeof head);
  base::StoreWord(word, 0);
  base::FutexWakeAll(word);
  Become(kIdle);
}

void Liveness::Become(State state) {
  base::StoreWord(&state_, state);
  base::FutexWakeAll(&state_);
}

void Liveness::AwaitChangeFrom(State state) {
  while (base::LoadWord(&state_) == state) base::FutexWait(&state_, state, 3600 * base::kNsPerSecond);
}

}  // namespace crossover::arbiter_client
