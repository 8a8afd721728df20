// Implements arbiter_client::Client for Session: what the arbiter thread calls.

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "common/base/job_environment.h"
#include "sidecar/log/log.h"
#include "sidecar/memory/accounting.h"
#include "sidecar/session/config.h"
#include "sidecar/session/hook_flags.h"
#include "sidecar/session/session.h"
#include "sidecar/session/streams.h"

namespace crossover::session {
namespace {

// The next constants are copied from the kernel's headers, because the installed headers may be older than
// the kernel.
constexpr int kMembarrierPrivateExpedited = 1 << 3;
constexpr int kMembarrierRegisterPrivateExpedited = 1 << 4;

// Tries to take the lock for a tenth of a second. Returns false if another thread keeps it.
bool LockSoon(base::Mutex* mutex) {
  constexpr int kTries = 100;
  for (int i = 0; i < kTries; ++i) {
    if (mutex->TryLock()) return true;
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
  return false;
}

// Makes every thread of the process pass a full memory barrier. Does nothing on an old kernel without
// membarrier.
void BarrierOnAllThreads() { ::syscall(SYS_membarrier, kMembarrierPrivateExpedited, 0); }

}  // namespace

void Session::SetUp(const gates::Driver* driver, CUcontext context, std::uint32_t transport, bool overlap,
                    ipc::Wish wish) {
  const base::Locked locked(mutex_);
  driver_ = driver;
  context_ = context;
  turns_.SetUp(driver, context);
  overlap_ = overlap;
  if (!overlap)
    log::Write(log::Level::kInfo,
               "this process is no client of MPS: each turn lasts until its collectives have ended");
  transport_ = transport;
  wish_ = overlap || wish == ipc::Wish::kNever ? wish : ipc::Wish::kWithoutMps;
}

void Session::OnThreadStart() {
  const base::Locked set_up(set_up_mutex_);
  if (exiting_.load(std::memory_order_relaxed)) return;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver_->ThreadExchangeStreamCaptureMode(&mode);
  driver_->CtxSetCurrent(context_);
  ::syscall(SYS_membarrier, kMembarrierRegisterPrivateExpedited, 0);
}

std::uint32_t Session::wanted_transport() const { return transport_; }

// Returns the gate for this page, or null if the driver supports none. Tries the transport that was asked
// for, and then host gates. A transport that has failed once is not tried again.
gates::Gate* Session::ChooseGate(crossover_page* page, turn::SlotIndex slot) {
  host_gate_works_ = host_gate_.SetUp(driver_, page, slot);
  if (exiting_.load()) return nullptr;
  if (transport_ == CROSSOVER_TRANSPORT_GPU_GATES) {
    if (gpu_gate_.SetUp(driver_, page, slot, &exiting_)) return &gpu_gate_;
    if (exiting_.load()) return nullptr;
    log::Write(log::Level::kWarn,
               "the driver refuses GPU gates (registered memory and stream memory operations on it); trying "
               "host gates instead");
  } else if (transport_ == CROSSOVER_TRANSPORT_RELAYED_GATES) {
    if (relay_gate_.SetUp(driver_, page, slot)) return &relay_gate_;
    if (exiting_.load()) return nullptr;
    log::Write(log::Level::kWarn,
               "the driver refuses relayed gates (stream memory operations on its own memory); trying host "
               "gates instead");
  }
  transport_ = CROSSOVER_TRANSPORT_HOST_GATES;
  return host_gate_works_ ? &host_gate_ : nullptr;
}

// Lowers the limit of this process to `bytes`. A pod with a limit has it in its environment, but a launcher
// that starts processes with a clean environment loses it there (env -i, sshd under MPI). The log then says
// so.
void Session::LimitMemory(std::uint64_t bytes) {
  const std::uint64_t own = GetConfig().gpu_memory;
  memory::TheAccounting().LowerLimit(bytes);
  if ((own != 0 && own <= bytes) || told_of_limit_.exchange(true, std::memory_order_relaxed)) return;
  log::Write(log::Level::kWarn,
             "%s %s: its pod may have %llu bytes on each GPU, and this limit holds from now on%s",
             base::kGpuMemory.name,
             own == 0 ? "is not in the environment of this process" : "of this process is too large",
             static_cast<unsigned long long>(bytes),
             own == 0 ? "; pass the variable on to the processes that a launcher starts" : "");
}

// Waits until no stream is being captured: set-up would invalidate a capture, or the capture would break it.
// A thread's default stream ends with the thread, and so does a capture of it. No call tells that, so this
// looks.
void Session::AwaitCaptures() {
  constexpr int kLooksUntilTold = 500;
  for (int look = 0; AnyCapture() && !exiting_.load(); ++look) {
    OnEndCaptures([](const Capture& capture) { return EndedWithItsThread(capture.key); });
    {
      const base::Locked locked(mutex_);
      if (captures_.lost()) return;  // Attach() then sets up nothing
    }
    if (look == kLooksUntilTold)
      log::Write(log::Level::kWarn,
                 "a stream is being captured into a CUDA graph: turns begin once the capture has ended");
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

bool Session::Attach(crossover_page* page, turn::SlotIndex slot) {
  AwaitCaptures();
  const base::Locked set_up(set_up_mutex_);
  if (exiting_.load()) return false;
  // If the session's context has ended, there is nothing to set up, and the session joins as one that is only
  // watched. It does the same if it no longer knows what is captured.
  bool watched = false;
  {
    const base::Locked locked(mutex_);
    watched = context_ended_ || captures_.lost();
  }
  if (!watched && event_ == nullptr) {
    const CUresult error = driver_->EventCreate(&event_, CU_EVENT_DISABLE_TIMING);
    if (error != CUDA_SUCCESS) {
      log::Write(log::Level::kWarn,
                 "this process takes no turns: cuEventCreate: expected an event, got error %d",
                 static_cast<int>(error));
      return false;
    }
  }
  gates::Gate* gate = watched ? nullptr : ChooseGate(page, slot);
  if (gate == nullptr && exiting_.load()) return false;
  if (gate == nullptr && !watched) {
    log::Write(log::Level::kWarn,
               "this process takes no turns: the driver supports no gates: neither those of CROSSOVER_GATES "
               "(gpu if it is "
               "not set) nor host gates");
    return false;
  }
  signals_.Attach(driver_, context_, wish_, gate == &gpu_gate_ ? &gpu_gate_ : nullptr, page, slot);
  const base::Locked locked(mutex_);
  Forget();
  turns_.Attach(page, slot, gate, event_);
  calls_.Resend();
  reductions_.Resend();
  // OnExit() sets `exiting_` before it stops turns: one of the two sees the other's store. A gate that is set
  // up stays, because the driver knows the page now.
  taking_allowed_.store(true);
  if (exiting_.load()) taking_allowed_.store(false);
  Follow();
  if (watched_only()) PublishPhase(false);
  SetAttention();
  constexpr const char* kNames[] = {"no", "GPU", "host", "relayed"};
  log::Write(log::Level::kInfo, "joined the arbiter: slot %u of its GPU, %s gates", slot, kNames[transport_]);
  return true;
}

// The arbiter is lost, so no offer counts any more. A signaller may be there, or not.
void Session::StopTaking() {
  taking_allowed_.store(false, std::memory_order_release);
  signals_.Leave();
}

void Session::OnOffer(const crossover_offer& offer, arbiter_client::OwnFd memory) {
  const base::Locked set_up(set_up_mutex_);
  signals_.OnOffer(offer, static_cast<arbiter_client::OwnFd&&>(memory));
}

void Session::OnProven(const crossover_proof& proof) {
  const base::Locked set_up(set_up_mutex_);
  signals_.OnProven(proof);
}

// Does what is due about signals. Uses the driver as Attach() does: not at the end of the process, and not
// while a stream is being captured.
int Session::TendSignals() {
  const base::Locked set_up(set_up_mutex_);
  return signals_.Tick(base::MonotonicNs(), !exiting_.load() && !AnyCapture());
}

void Session::Detach() {
  mutex_.Lock();
  while (blocked_) {  // waits until that thread's stream has come so far, and not for long after that
    mutex_.Unlock();
    const timespec pause{0, 1'000'000};
    ::nanosleep(&pause, nullptr);
    mutex_.Lock();
  }
  turns_.Detach();
  Forget();
  mode_ = CROSSOVER_MODE_OFF;
  watching.store(false, std::memory_order_relaxed);
  mutex_.Unlock();
  signals_.Leave();
}

int Session::OnTick() {
  const int signals_us = TendSignals();
  return std::min(signals_us, TendTurn());
}

// Gives a turn back in which nothing runs (input stall, checkpoint, pause); the next launch takes it again.
// If stalls are usual it does so at once, so that all ranks do it in the same way; otherwise only if another
// client waits.
int Session::TendTurn() {
  constexpr int kNotWatched = 100'000;
  constexpr int kSoon = 1000;
  if (!mutex_.TryLock()) return idle_watch_.next_look();
  if (exiting_.load()) {
    const bool may_come = turns_.holding() || blocked_;
    LetGoAtExit();
    mutex_.Unlock();
    return may_come ? kSoon : kNotWatched;
  }
  idle_watch_.set_turns_last(!overlap_ && !gaps_.by_gaps());
  if (gaps_.silent()) FollowByGaps();
  const bool as_a_rule = idle_watch_.usual() || gaps_.by_gaps();
  const bool taking = turns_.holding() && !blocked_ && (mode_ == CROSSOVER_MODE_GATE || gaps_.by_gaps());
  // A turn that lasts until its collective has ended waits for other ranks: the arbiter limits that.
  const bool lasts = lasts_ && !aborted_.load(std::memory_order_relaxed);
  const bool idle = taking && !lasts && !AnyCapture() && turns_.Idle(tracker_);
  if (taking && idle_watch_.Look(turns_.asked(), stretches_.launched(), idle) &&
      (as_a_rule || turns_.OthersWait())) {
    YieldIdleTurn();
  }
  const bool watched = mode_ == CROSSOVER_MODE_GATE;
  mutex_.Unlock();
  return watched ? idle_watch_.next_look() : kNotWatched;
}

// Gives an idle turn back, unless a launch comes in between. Launches read `hook_flags` alone, so this sets
// it first. Once every thread has passed a barrier, no later launch misses the change, and the second check
// sees what was queued before. A launch between its load and its driver call at that moment runs outside the
// turn.
void Session::YieldIdleTurn() {
  const bool armed = std::exchange(armed_, true);
  joined_stream_ = 0;
  SetAttention();
  BarrierOnAllThreads();
  if (turns_.Idle(tracker_)) {
    CountTurn();
    slice_.Forget();
    turns_.ReleaseOnHost();
    if (!gaps_.by_gaps()) input_wait_.Begin(base::MonotonicNs());
    SetAttention();
  } else {
    armed_ = armed;
    SetAttention();
  }
}

// Gives the turn back at the end of the process. What the process runs on the GPU ends with it, so no other
// job waits for that. A release that is queued already needs no help, and a stream that waits for its turn
// holds none.
void Session::OnExit() {
  exiting_.store(true);
  taking_allowed_.store(false, std::memory_order_release);
  if (LockSoon(&set_up_mutex_)) set_up_mutex_.Unlock();
  const bool locked = LockSoon(&mutex_);
  if (locked) LetGoAtExit();
  relay_gate_.LeaveMemory();
  signals_.End();
  if (locked) mutex_.Unlock();
}

// Gives back the turn that is held, or that has come since OnExit(). Stores to the page and calls no driver.
void Session::LetGoAtExit() {
  if (blocked_ || !turns_.Let()) return;
  CountTurn();
  turns_.ReleaseOnHost();
}

void Session::PublishMemory() {
  const auto mib = [](std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes >> 20); };
  const memory::Accounting& accounting = memory::TheAccounting();
  crossover_slot& slot = turns_.page()->slot[turns_.slot()];
  base::StoreWord(&slot.memory_budget_mib, mib(accounting.limit()));
  base::StoreWord(&slot.memory_used_mib, mib(accounting.used_everywhere()));
  base::StoreWord(&slot.memory_refusals, static_cast<std::uint32_t>(accounting.refused()));
}

bool Session::NextMessage(arbiter_client::ToArbiter* message) {
  if (signals_.NextMessage(message)) return true;
  if (reductions_.NextMessage(&message->reductions)) {
    message->reductions.header = arbiter_client::MakeHeader(CROSSOVER_REDUCTIONS, sizeof message->reductions);
    return true;
  }
  if (!mutex_.TryLock()) return false;
  const bool more = calls_.NextMessage(&message->calls);
  mutex_.Unlock();
  if (more) message->calls.header = arbiter_client::MakeHeader(CROSSOVER_CALLS, sizeof message->calls);
  return more;
}

bool Session::FillProfile(crossover_profile* profile) {
  if (!mutex_.TryLock()) return false;
  if (turns_.page() != nullptr) PublishMemory();
  profile->iterations = detector_.periods_seen() + gaps_.turns();
  profile->turns = turns_.taken();
  profile->launches = slow_launches_;
  profile->period_tokens = detector_.period();
  profile->turns_per_period = gaps_.by_gaps() ? 1 : detector_.turns_per_period();
  profile->input_wait = input_wait_.usual_us() ? *input_wait_.usual_us() + 1 : 0;
  const bool signalled = transport_ == CROSSOVER_TRANSPORT_GPU_GATES && signals_.awaited();
  profile->transport =
      signalled ? static_cast<std::uint32_t>(CROSSOVER_TRANSPORT_SIGNALLED_GATES) : transport_;
  mutex_.Unlock();
  return true;
}

}  // namespace crossover::session
