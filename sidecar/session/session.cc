#include "sidecar/session/session.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/futex.h"
#include "sidecar/log/log.h"
#include "sidecar/memory/ledger.h"
#include "sidecar/session/attention.h"

namespace crossover::session {
namespace {

constinit Session the_session;

// From the kernel's headers, which may be older than the kernel.
constexpr int kMembarrierPrivateExpedited = 1 << 3;
constexpr int kMembarrierRegisterPrivateExpedited = 1 << 4;

// Every thread of the process passes a full memory barrier. Best effort: an old kernel has none.
void BarrierOnAllThreads() { ::syscall(SYS_membarrier, kMembarrierPrivateExpedited, 0); }

}  // namespace

Session& TheSession() { return the_session; }

bool Session::Knows(const void* communicator) { return communicators_.Find(communicator).handle != nullptr; }

void Session::OnCommunicator(const void* communicator, int ranks) {
  const base::Locked locked(mutex_);
  if (ranks > 1) gaps_.set_communicator(true);
  if (ranks > 1) TellOfEnd();
  if (!communicators_.Add(communicator, ranks)) ObserveOnlyLocked(base::WatchReason::kCommunicators);
}

void Session::OnCommunicatorEnd(const void* communicator) {
  const base::Locked locked(mutex_);
  communicators_.Remove(communicator);
  EndTurn();
}

// Out of the table before the call: afterwards its handle may be another's, made in another thread.
void Session::OnCommunicatorAbort(const void* communicator) {
  communicators_.Remove(communicator);
  aborted_.store(true, std::memory_order_relaxed);
}

void Session::BeforeCollective(const void* communicator, phase::Token token, phase::StreamKey stream) {
  const base::Locked locked(mutex_);
  const Communicator known = communicators_.Find(communicator);
  if (known.ranks < 2) return;
  ++ever_called_;
  gaps_.OnCollective();
  TellOfEnd();
  // Whether or not an arbiter is there: one that comes later sees graphs alone.
  const bool captured = AnyCapture() && driver_ != nullptr && !context_ended_ && turns_.Capturing(stream);
  if (captured) ObserveOnlyLocked(base::WatchReason::kCaptured);
  if (turns_.page() == nullptr || !Follow() || captured) return;
  token.communicator = known.index;
  const phase::Detector::Verdict verdict = detector_.OnCollective(token);
  ++called_;
  const bool gating = verdict.locked && !AllAlike() && mode_ == CROSSOVER_MODE_GATE && !watched_only() &&
                      taking_allowed_.load(std::memory_order_acquire);
  lasts_ = gating && verdict.turn_end && !overlap_;
  if ((verdict.turn_end || !gating) && !lasts_) EndTurn();
  if (verdict.turn_end || !gating) {
    armed_ = false;
    awaited_ = gating ? called_ : 0;
  }
  PublishPhase(gating);
  const phase::Sequence joined = tracker_.OnCollective(stream, called_);
  since_wait_.fetch_add(1, std::memory_order_relaxed);
  if (joined != 0) OnWait(joined, stream);
  if (tracker_.full()) ObserveOnlyLocked(base::WatchReason::kStreams);
  SetAttention();
}

void Session::BeforeNcclKernel(const void* communicator, phase::Token token, phase::StreamKey stream) {
  {
    const base::Locked locked(mutex_);
    by_kernels_ = true;
  }
  BeforeCollective(communicator, token, stream);
  const base::Locked locked(mutex_);
  if (watching.load(std::memory_order_relaxed)) tracker_.OnNcclKernel(stream);
}

void Session::WatchKernels(bool watch) {
  const base::Locked locked(mutex_);
  watch_kernels_ = watch;
  SetAttention();
}

void Session::BeforeLaunch(phase::StreamKey stream) {
  if (nccl_depth > 0) return;
  std::uint32_t why = attention.load(std::memory_order_relaxed) & ~kAttendKernels;
  if (why == 0 || (why == kAttendCount && !stretches_.Launch())) return;
  const base::Uncancelled uncancelled;  // in a gate that blocks too, where the lock is not held
  mutex_.Lock();
  ++slow_launches_;
  why = attention.load(std::memory_order_relaxed);
  if ((why & kAttendLearning) != 0) {
    tracker_.OnLaunch(stream);
    detector_.OnCompute();
    if (!detector_.locked()) LearnGaps(stream);
  }
  if ((why & kAttendAcquire) != 0) {
    BeginTurn(stream);
  } else if ((why & kAttendCount) != 0 && stretches_.due()) {
    MakeYieldPoint(stream);
  }
  mutex_.Unlock();
}

void Session::OnRecord(phase::EventKey event, phase::StreamKey stream) {
  const base::Locked locked(mutex_);
  tracker_.OnRecord(event, stream);
}

void Session::OnStreamWait(phase::StreamKey stream, phase::EventKey event) {
  const base::Locked locked(mutex_);
  OnWait(tracker_.OnStreamWait(stream, event), stream);
}

void Session::OnHostWaitEvent(phase::EventKey event) {
  const base::Locked locked(mutex_);
  OnWait(tracker_.OnHostWaitEvent(event), 0);
}

void Session::OnHostWaitStream(phase::StreamKey stream) {
  const base::Locked locked(mutex_);
  OnWait(tracker_.OnHostWaitStream(stream), 0);
}

void Session::OnHostWaitContext() {
  const base::Locked locked(mutex_);
  OnWait(tracker_.OnHostWaitContext(), 0);
}

void Session::OnHostSawEvent(phase::EventKey event) {
  if (!JoinsBySeeing()) return;
  const base::Locked locked(mutex_);
  if (JoinsBySeeing()) OnJoin(tracker_.OnHostWaitEvent(event), 0);
}

void Session::OnHostSawStream(phase::StreamKey stream) {
  if (!JoinsBySeeing()) return;
  const base::Locked locked(mutex_);
  if (JoinsBySeeing()) OnJoin(tracker_.OnHostWaitStream(stream), 0);
}

// A stream that nobody has launched on yet: for a period, look where launches go.
void Session::OnStreamCreate() {
  const base::Locked locked(mutex_);
  scan_until_ = called_ + 2 * detector_.period();
  gaps_.OnStream();
  SetAttention();
}

// Before the stream is gone: nothing of ours may be queued on it, or asked of it, afterwards.
void Session::OnStreamDestroy(phase::StreamKey stream) {
  const base::Locked locked(mutex_);
  if (turns_.stream() == stream) EndOrGiveUp();
  if (joined_stream_ == stream) joined_stream_ = 0;
  tracker_.ForgetStream(stream);
}

void Session::OnEventDestroy(phase::EventKey event) {
  const base::Locked locked(mutex_);
  tracker_.ForgetEvent(event);
}

// With the lock: OnTick() looks at streams that must not be captured meanwhile.
void Session::OnBeginCapture() {
  const base::Locked locked(mutex_);
  captures_.fetch_add(1, std::memory_order_relaxed);
}

// A turn that should have ended while its stream was captured, or that was held when collectives were.
void Session::OnEndCapture() {
  const base::Locked locked(mutex_);
  captures_.fetch_sub(1, std::memory_order_relaxed);
  if ((due_ || watched_only()) && !AnyCapture()) EndTurn();
}

void Session::ObserveOnly(base::WatchReason reason) {
  const base::Locked locked(mutex_);
  ObserveOnlyLocked(reason);
}

void Session::ObserveOnlyLocked(base::WatchReason reason) {
  if (WatchOnly(reason)) log::Write(log::Level::kWarn, "takes no turns: %s", base::Text(reason));
}

// False where there was a reason before: the first stays. It is told to the arbiter at once: perhaps no
// collective is called any more that would.
bool Session::WatchOnly(base::WatchReason reason) {
  if (watched_only()) return false;
  watch_reason_ = reason;
  if (turns_.page() == nullptr) return true;
  PublishPhase(false);
  SetAttention();
  return true;
}

// Kernels that are all alike and all joined look like an iteration each, where they may be one of many
// layers: a turn for each would be too short by far. What moves more or less would tell, and is not known.
bool Session::AllAlike() {
  if (!by_kernels_ || detector_.period() != 1) {
    alike_ = 0;
    return false;
  }
  // From here on no period that would be found can explain them.
  if (alike_ < phase::Detector::kMaxPeriod && ++alike_ == phase::Detector::kMaxPeriod && !said_alike_) {
    said_alike_ = true;
    log::Write(log::Level::kWarn, "takes no turns: %s", base::Text(base::WatchReason::kAlike));
  }
  return true;
}

// Reads what the arbiter asks. False: nothing is watched now.
bool Session::Follow() {
  const std::uint32_t mode = base::LoadWord(&turns_.page()->slot[turns_.slot()].mode);
  const bool off = mode != CROSSOVER_MODE_OBSERVE && mode != CROSSOVER_MODE_GATE;
  if (off && mode_ != CROSSOVER_MODE_OFF) {
    EndTurn();
    Forget();
    PublishPhase(false);
  }
  mode_ = off ? static_cast<std::uint32_t>(CROSSOVER_MODE_OFF) : mode;
  watching.store(!off, std::memory_order_relaxed);
  return !off;
}

void Session::PublishPhase(bool gating) {
  crossover_slot& slot = turns_.page()->slot[turns_.slot()];
  std::uint32_t phase = CROSSOVER_PHASE_LEARNING;
  if ((detector_.locked() || gaps_.by_gaps()) && !watched_only() && alike_ == 0) {
    phase = gating ? CROSSOVER_PHASE_TAKING : CROSSOVER_PHASE_LOCKED;
  }
  base::StoreWord(&slot.turns, TurnsPerIteration());
  base::StoreWord(&slot.turns_last, overlap_ || gaps_.by_gaps() ? 0 : 1);
  if (detector_.locked() || gaps_.by_gaps()) base::StoreWord(&slot.iteration, Iteration());
  base::StoreWord(&slot.periods, static_cast<std::uint32_t>(detector_.periods_seen()) + gaps_.turns());
  base::WatchReason reason = watch_reason_;
  if (!watched_only() && alike_ == phase::Detector::kMaxPeriod) reason = base::WatchReason::kAlike;
  if (!watched_only() && gaps_.refused()) reason = base::WatchReason::kUnaskable;
  base::StoreWord(&slot.watch_reason, static_cast<std::uint32_t>(reason));
  base::StoreWord(&slot.phase, phase);
  base::StoreWord(&slot.heartbeat, base::LoadWord(&slot.heartbeat) + 1);
}

void Session::SetAttention() {
  std::uint32_t why = watch_kernels_ ? std::uint32_t{kAttendKernels} : 0;
  if (watching.load(std::memory_order_relaxed)) {
    const bool learning = gaps_.by_gaps() ? gaps_.scanning() : !detector_.locked() || called_ < scan_until_;
    if (learning && !watched_only()) why |= kAttendLearning;
    if (armed_) why |= kAttendAcquire;
    if (turns_.holding() && !lasts_) why |= kAttendCount;
  }
  attention.store(why, std::memory_order_relaxed);
}

// Where there is one: a thread that waits in a gate that blocks has none yet. While its stream is captured
// nothing may be queued there, and the turn goes on until it is not.
void Session::EndTurn() {
  if (!turns_.holding() || blocked_) return;
  due_ = AnyCapture() && turns_.Capturing(turns_.stream());
  if (due_) return;
  CountTurn();
  if (!turns_.Release(tracker_, AnyCapture()) && !(FallBack() && turns_.Release(tracker_, AnyCapture()))) {
    // The token stays with us and the arbiter's watchdog takes it: slow, and safe.
    OnRefused();
    turns_.Abandon();
  }
  SetAttention();
}

// Where nothing of ours may be queued afterwards. A turn that cannot end now never does: no other is asked
// for.
void Session::EndOrGiveUp() {
  EndTurn();
  if (!turns_.holding()) return;
  ObserveOnlyLocked(base::WatchReason::kCaptured);
  turns_.Abandon();
}

void Session::CountTurn() {
  stretches_.End();
  base::StoreWord(&turns_.page()->slot[turns_.slot()].turn_launches, stretches_.usual());
}

void Session::BeginTurn(phase::StreamKey launching) {
  const bool capturing = AnyCapture();
  if (capturing && turns_.blocks() && std::exchange(lasts_, false)) EndTurn();
  // The graph's launch begins the turn, or the first one after all captures: waiting could spoil them.
  if (capturing && (turns_.blocks() || turns_.Capturing(launching))) return;
  armed_ = false;
  SetAttention();
  if (std::exchange(lasts_, false)) EndTurn();
  if (turns_.page() == nullptr || turns_.holding() || blocked_ || watched_only()) return;
  if (!taking_allowed_.load(std::memory_order_acquire) || Follow() == false || mode_ != CROSSOVER_MODE_GATE) {
    return;
  }
  if (gaps_.by_gaps() && !CanBeAsked(launching)) {
    gaps_.Refuse();
    OnUnaskable();
    return PublishGaps();
  }
  aborted_.store(false, std::memory_order_relaxed);
  if (!TakeTurn(launching, capturing)) OnRefused();
  if (turns_.holding()) {
    stretches_.Begin(StretchAsked());
    if (gaps_.by_gaps()) {
      gaps_.OnTurn();
      PublishGaps();
    }
    NumberIteration();
  }
  if (watched_only()) EndTurn();  // found out while it was waited for
  SetAttention();
}

bool Session::TakeTurn(phase::StreamKey launching, bool capturing) {
  if (turns_.blocks()) return WaitForTurn(launching);
  const bool joined = joined_stream_ != 0 && !(capturing && turns_.Capturing(joined_stream_));
  const phase::StreamKey stream = joined ? joined_stream_ : launching;
  if (turns_.Acquire(stream, launching, tracker_, capturing)) return true;
  return !turns_.holding() && FallBack() && WaitForTurn(launching);
}

// Without the lock: the helper is to see to the arbiter meanwhile.
bool Session::WaitForTurn(phase::StreamKey launching) {
  blocked_ = true;
  mutex_.Unlock();
  const bool begun = turns_.WaitForTurn(launching);
  mutex_.Lock();
  blocked_ = false;
  if (begun && turns_.page() != nullptr) turns_.Began(launching);
  return begun;
}

// The driver took operations of this gate before, and does not any more. False: there is nothing to go on
// with.
bool Session::FallBack() {
  if (!turns_.gate_refused() || turns_.blocks() || !host_gate_works_ || AnyCapture() ||
      turns_.ContextLost()) {
    return false;
  }
  log::Write(log::Level::kWarn,
             "the driver refuses stream memory operations from now on; host gates instead");
  transport_ = CROSSOVER_TRANSPORT_HOST_GATES;
  turns_.Change(&host_gate_);
  return true;
}

// The driver takes nothing more of ours. In a lost context nothing runs that a turn could stand for: it is
// given back from here. Where its release is queued the GPU may have begun it: the arbiter's watchdog sees to
// that.
void Session::OnRefused() {
  const bool others = turns_.OfAnotherThread();
  const bool lost = !AnyCapture() && turns_.ContextLost();
  if (lost && turns_.Let()) turns_.ReleaseOnHost();
  ObserveOnlyLocked(lost     ? base::WatchReason::kContextLost
                    : others ? base::WatchReason::kSeveralThreads
                             : base::WatchReason::kDriver);
}

// A turn given back in the middle makes two of it.
std::uint32_t Session::TurnsPerIteration() const {
  if (gaps_.by_gaps()) return 1;
  const std::uint32_t turns = detector_.turns_per_period();
  return idle_watch_.usual() && turns < turn::kMaxTurns ? turns + 1 : turns;
}

// All arbiters of the job know an iteration by the same number, whenever each of them began to watch.
void Session::NumberIteration() {
  if (!detector_.locked() && !gaps_.by_gaps()) return;
  const std::uint64_t iteration = Iteration();
  const std::uint64_t turn = turn::TurnOf(turns_.asked()) / turn::TurnsOf(TurnsPerIteration());
  base::StoreWord(&turns_.page()->slot[turns_.slot()].iteration_offset,
                  static_cast<std::uint32_t>(iteration - turn));
}

// Where turns end at gaps, a turn: as good as the same on all ranks.
std::uint32_t Session::Iteration() const {
  return gaps_.by_gaps() ? gaps_.turns() : static_cast<std::uint32_t>(ever_called_ / detector_.period());
}

// Launches per stretch in the present turn; anybody may have scribbled on the word.
std::uint32_t Session::StretchAsked() const {
  const std::uint32_t position = turn::PositionOf(turns_.asked(), turn::TurnsOf(TurnsPerIteration()));
  return base::LoadWord(&turns_.page()->slot[turns_.slot()].stretch_launches[position]);
}

// In the middle of a turn. With a gate that blocks, the turn ends and another begins, where somebody waits.
void Session::MakeYieldPoint(phase::StreamKey launching) {
  if (!turns_.holding() || blocked_ || lasts_) return;
  if (AnyCapture() || (turns_.blocks() && !turns_.OthersWait())) {
    stretches_.Next(StretchAsked());
  } else if (turns_.blocks()) {
    EndTurn();
    BeginTurn(launching);
  } else if (turns_.Yield(launching, tracker_)) {
    stretches_.Next(StretchAsked());
  } else if (FallBack()) {
    stretches_.Next(StretchAsked());
  } else {
    OnRefused();
  }
}

// A join by something that does wait.
void Session::OnWait(phase::Sequence sequence, phase::StreamKey stream) {
  if (sequence != 0) since_wait_.store(0, std::memory_order_relaxed);
  OnJoin(sequence, stream);
}

void Session::OnJoin(phase::Sequence sequence, phase::StreamKey stream) {
  if (sequence == 0) return;
  if (sequence == called_) {
    detector_.OnJoin();
  } else {
    detector_.OnInnerJoin();
  }
  if (awaited_ == 0 || sequence < awaited_) return;
  awaited_ = 0;
  armed_ = true;
  joined_stream_ = stream;
  SetAttention();
}

void Session::Forget() {
  detector_.Reset();
  tracker_.Reset();
  gaps_.Forget();
  since_wait_.store(kJoinsBySeeing - kShowsOne, std::memory_order_relaxed);
  called_ = 0;
  scan_until_ = 0;
  awaited_ = 0;
  armed_ = false;
  lasts_ = false;
  alike_ = 0;
  attention.store(watch_kernels_ ? std::uint32_t{kAttendKernels} : 0, std::memory_order_relaxed);
}

void Session::SetUp(const gates::Driver* driver, CUcontext context, std::uint32_t transport, bool overlap) {
  const base::Locked locked(mutex_);
  driver_ = driver;
  context_ = context;
  turns_.SetUp(driver, context);
  overlap_ = overlap;
  if (!overlap) log::Write(log::Level::kInfo, "no MPS: turns last until their collectives have ended");
  transport_ = transport;
}

void Session::OnThreadStart() {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  driver_->ThreadExchangeStreamCaptureMode(&mode);
  driver_->CtxSetCurrent(context_);
  ::syscall(SYS_membarrier, kMembarrierRegisterPrivateExpedited, 0);
}

std::uint32_t Session::wanted_transport() const { return transport_; }

// The transport asked for, or that of the turnstile before; what failed once is not tried again.
gates::Gate* Session::ChooseGate(crossover_page* page, turn::SlotIndex slot) {
  host_gate_works_ = host_gate_.SetUp(driver_, page, slot);
  if (transport_ == CROSSOVER_TRANSPORT_GPU_GATES) {
    if (gpu_gate_.SetUp(driver_, page, slot)) return &gpu_gate_;
    log::Write(log::Level::kWarn,
               "the driver refuses stream memory operations on the turnstile; host gates instead");
  } else if (transport_ == CROSSOVER_TRANSPORT_RELAYED_GATES) {
    if (relay_gate_.SetUp(driver_, page, slot)) return &relay_gate_;
    log::Write(log::Level::kWarn,
               "the driver refuses stream memory operations on its own memory; host gates instead");
  }
  transport_ = CROSSOVER_TRANSPORT_HOST_GATES;
  return host_gate_works_ ? &host_gate_ : nullptr;
}

bool Session::Attach(crossover_page* page, turn::SlotIndex slot) {
  // Set-up would invalidate a capture, or be invalidated by it.
  while (AnyCapture()) {
    const timespec pause{0, 10'000'000};
    ::nanosleep(&pause, nullptr);
  }
  // Where our context has ended there is nothing to set up: joins as one that is watched.
  bool ended = false;
  {
    const base::Locked locked(mutex_);
    ended = context_ended_;
  }
  if (!ended && event_ == nullptr && driver_->EventCreate(&event_, CU_EVENT_DISABLE_TIMING) != CUDA_SUCCESS) {
    log::Write(log::Level::kWarn, "takes no turns: the driver refused to create an event");
    return false;
  }
  gates::Gate* gate = ended ? nullptr : ChooseGate(page, slot);
  if (gate == nullptr && !ended) {
    log::Write(log::Level::kWarn, "takes no turns: the driver supports neither GPU gates nor host gates");
    return false;
  }
  const base::Locked locked(mutex_);
  Forget();
  turns_.Attach(page, slot, gate, event_);
  taking_allowed_.store(true, std::memory_order_release);
  Follow();
  if (watched_only()) PublishPhase(false);
  SetAttention();
  constexpr const char* kNames[] = {"no", "GPU", "host", "relayed"};
  log::Write(log::Level::kInfo, "slot %u of its GPU, %s gates", slot, kNames[transport_]);
  return true;
}

void Session::Detach() {
  mutex_.Lock();
  while (blocked_) {  // until its stream has come so far, and not for long from then on
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
}

// A turn in which nothing runs (input stall, checkpoint, pause) is given back, and taken again by the next
// launch: where stalls are usual at once, so that all ranks do it alike, else if somebody waits.
int Session::OnTick() {
  constexpr int kNotWatched = 100'000;
  if (!mutex_.TryLock()) return idle_watch_.next_look();
  idle_watch_.set_turns_last(!overlap_ && !gaps_.by_gaps());
  if (gaps_.silent()) FollowByGaps();
  const bool as_a_rule = idle_watch_.usual() || gaps_.by_gaps();
  const bool taking = turns_.holding() && !blocked_ && (mode_ == CROSSOVER_MODE_GATE || gaps_.by_gaps());
  // A turn that lasts until its collective has ended waits for other ranks: the arbiter sees to that.
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

// Launches look at `attention` alone: once every thread has passed a barrier, none that comes later misses
// it, and what was queued before is seen by the second look. A launch caught between the two runs outside the
// turn.
void Session::YieldIdleTurn() {
  const bool armed = std::exchange(armed_, true);
  joined_stream_ = 0;
  SetAttention();
  BarrierOnAllThreads();
  if (turns_.Idle(tracker_)) {
    CountTurn();
    turns_.ReleaseOnHost();
    SetAttention();
  } else {
    armed_ = armed;
    SetAttention();
  }
}

void Session::PublishMemory() {
  const auto mib = [](std::uint64_t bytes) { return static_cast<std::uint32_t>(bytes >> 20); };
  const memory::Ledger& ledger = memory::TheLedger();
  crossover_slot& slot = turns_.page()->slot[turns_.slot()];
  base::StoreWord(&slot.memory_budget_mib, mib(ledger.limit()));
  base::StoreWord(&slot.memory_used_mib, mib(ledger.used_everywhere()));
  base::StoreWord(&slot.memory_refusals, static_cast<std::uint32_t>(ledger.refused()));
}

bool Session::FillProfile(crossover_profile* profile) {
  if (!mutex_.TryLock()) return false;
  if (turns_.page() != nullptr) PublishMemory();
  profile->iterations = detector_.periods_seen() + gaps_.turns();
  profile->turns = turns_.taken();
  profile->launches = slow_launches_;
  profile->period_tokens = detector_.period();
  profile->turns_per_period = gaps_.by_gaps() ? 1 : detector_.turns_per_period();
  profile->transport = transport_;
  mutex_.Unlock();
  return true;
}

}  // namespace crossover::session
