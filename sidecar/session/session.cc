#include "sidecar/session/session.h"

#include "common/base/futex.h"
#include "sidecar/log/log.h"
#include "sidecar/session/hook_flags.h"

namespace crossover::session {
namespace {

constinit Session the_session;

phase::Group GroupOf(const Communicator& communicator) {
  return {communicator.number, static_cast<std::uint32_t>(communicator.ranks),
          static_cast<std::uint32_t>(communicator.rank)};
}

}  // namespace

Session& TheSession() { return the_session; }

bool Session::Knows(const void* communicator) { return communicators_.Find(communicator).handle != nullptr; }

void Session::OnCommunicatorId(const void* communicator, std::span<const char> id) {
  names_.Add(communicator, CommunicatorNames::NumberOf(id));
}

void Session::OnCommunicatorSplit(const void* parent, const void* child, std::int32_t color) {
  names_.Derive(parent, child, color);
}

void Session::OnCommunicator(const void* communicator, int ranks, int rank) {
  const base::Locked locked(mutex_);
  if (ranks > 1) gaps_.set_communicator(true);
  if (ranks > 1) TellOfEnd();
  if (!communicators_.Add(communicator, ranks, rank, names_.Find(communicator))) EndTurn();
  LookForRoom();
}

void Session::OnCommunicatorEnd(const void* communicator) {
  const base::Locked locked(mutex_);
  communicators_.Remove(communicator);
  names_.Remove(communicator);
  EndTurn();
}

// Removes the communicator before NCCL is called: afterwards another thread may make one with the same
// handle.
void Session::OnCommunicatorAbort(const void* communicator) {
  communicators_.Remove(communicator);
  names_.Remove(communicator);
  aborted_.store(true, std::memory_order_relaxed);
}

void Session::BeforeCollective(const void* communicator, phase::Token token, phase::StreamKey stream,
                               int ranks, const phase::Call& call) {
  const base::Locked locked(mutex_);
  const Communicator known = communicators_.Find(communicator);
  if ((known.handle != nullptr ? known.ranks : ranks) < 2) return;
  ++ever_called_;
  calls_collectives = true;
  gaps_.OnCollective();
  TellOfEnd();
  // Captures are checked even without an arbiter: when one comes later, the collectives are only seen as
  // launches of graphs.
  const bool captured = AnyCapture() && driver_ != nullptr && !context_ended_ && turns_.Capturing(stream);
  if (captured) ObserveOnlyLocked(base::WatchReason::kCaptured);
  if (turns_.page() == nullptr || !Follow() || captured) return;
  token.communicator = known.index;
  const phase::Detector::Verdict verdict = detector_.OnCollective(token);
  if (tracker_.MayHaveJoined()) detector_.OnPossibleInnerJoin();
  if (const std::uint32_t every = detector_.repeats_every(); every != 0) {
    calls_.Count(GroupOf(known), call, every);
  } else {
    calls_.Forget();
  }
  ++called_;
  LookForRoom();
  LookForObstacle();
  const bool takes = verdict.locked && !AllAlike() && mode_ == CROSSOVER_MODE_GATE && MayTake();
  const bool gating = detector_.at_waits() ? FollowWaits(takes) : takes;
  if (!detector_.at_waits()) ForgetMain();
  lasts_ = gating && verdict.turn_end && !overlap_;
  if ((verdict.turn_end || !gating) && !lasts_) EndTurn();
  if (verdict.turn_end || !gating) {
    armed_ = false;
    awaited_ = gating ? called_ : 0;
  }
  if (AtWaits()) {
    // The main stream carries the collective, or waits for it before anything else is launched. In front of
    // the call, the release does not stand behind this collective in a channel of the GPU.
    if (stream == main_ || verdict.at_once) EndTurn();
    armed_ = !turns_.holding();
  }
  PublishPhase(gating);
  const phase::Sequence joined = tracker_.OnCollective(stream, called_);
  since_wait_.fetch_add(1, std::memory_order_relaxed);
  if (joined != 0) OnWait(joined, stream);
  SetAttention();
}

void Session::BeforeNcclKernel(const void* communicator, phase::Token token, phase::StreamKey stream) {
  {
    const base::Locked locked(mutex_);
    by_kernels_ = true;
  }
  constexpr int kSeveral = 2;  // NCCL launches no kernels for a communicator of one rank
  BeforeCollective(communicator, token, stream, kSeveral);
  const base::Locked locked(mutex_);
  if (watching.load(std::memory_order_relaxed)) tracker_.OnNcclKernel(stream);
}

void Session::WatchKernels(bool watch) {
  const base::Locked locked(mutex_);
  watch_kernels_ = watch;
  SetAttention();
}

void Session::EndSilence() {
  const base::Locked locked(mutex_);
  silent_ = false;
  SetAttention();
}

void Session::BeforeLaunch(phase::StreamKey stream) {
  if (nccl_depth > 0) return;
  std::uint32_t why = hook_flags.load(std::memory_order_relaxed) & ~(kHookKernels | kHookSilence);
  if (why == 0 || (why == kHookCount && !stretches_.Launch())) return;
  const base::Uncancelled
      uncancelled;  // the lock alone does not cover a gate that blocks: it is not held there
  mutex_.Lock();
  ++slow_launches_;
  why = hook_flags.load(std::memory_order_relaxed);
  if ((why & kHookLearning) != 0) {
    tracker_.OnLaunch(stream);
    detector_.OnCompute();
    if (!detector_.locked()) LearnGaps(stream);
  }
  if ((why & kHookAcquire) != 0) {
    BeginTurn(stream);
  } else if ((why & kHookCount) != 0 && stretches_.due()) {
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

void Session::OnRecordAll(phase::EventKey event) {
  const base::Locked locked(mutex_);
  tracker_.OnRecordAll(event);
}

// Passes no stream to OnWait(): the next turn begins on the stream of the next launch.
void Session::OnAllWait(phase::EventKey event) {
  const base::Locked locked(mutex_);
  OnWait(tracker_.OnAllWait(event), 0);
}

void Session::OnHostWaitEvent(phase::EventKey event) {
  const base::Locked locked(mutex_);
  OnHostWait(tracker_.OnHostWaitEvent(event));
}

void Session::OnHostWaitStream(phase::StreamKey stream) {
  const base::Locked locked(mutex_);
  OnHostWait(tracker_.OnHostWaitStream(stream));
}

void Session::OnHostWaitContext() {
  const base::Locked locked(mutex_);
  OnHostWait(tracker_.OnHostWaitContext());
}

void Session::OnHostSawEvent(phase::EventKey event, bool calls) {
  if (!calls && !JoinsBySeeing()) return;
  const base::Locked locked(mutex_);
  if (calls) OnPossibleJoin(tracker_.OnCallerSawEvent(event));
  if (JoinsBySeeing()) OnJoin(tracker_.OnHostWaitEvent(event), 0);
}

void Session::OnHostSawStream(phase::StreamKey stream) {
  if (!JoinsBySeeing()) return;
  const base::Locked locked(mutex_);
  if (JoinsBySeeing()) OnJoin(tracker_.OnHostWaitStream(stream), 0);
}

// Watches for two periods on which streams launches go, because nothing was launched on the new stream yet.
void Session::OnStreamCreate() {
  const base::Locked locked(mutex_);
  scan_until_ = called_ + 2 * detector_.period();
  gaps_.OnStream();
  SetAttention();
}

// Ends a turn on the stream while the stream still exists. Afterwards the library must neither queue anything
// on it nor ask the driver about it.
bool Session::OnStreamDestroy(phase::StreamKey stream) {
  const base::Locked locked(mutex_);
  if (turns_.stream() == stream) EndOrGiveUp();
  if (main_ == stream) ForgetMain();
  if (joined_stream_ == stream) joined_stream_ = 0;
  tracker_.ForgetStream(stream);
  return captures_.Leave(stream);
}

void Session::OnCapturedStreamDestroyed() {
  const base::Locked locked(mutex_);
  captures_.Left();
  EndDueTurn();
}

void Session::OnEventDestroy(phase::EventKey event) {
  const base::Locked locked(mutex_);
  tracker_.ForgetEvent(event);
}

// Takes the lock, because OnTick() looks at streams that must not be captured meanwhile.
bool Session::OnBeginCapture(const Capture& capture) {
  const base::Locked locked(mutex_);
  if (AnyCapture()) ForgetThreadsThatAreGone();
  const bool begun = captures_.Begin(capture);
  if (captures_.lost()) ObserveOnlyLocked(base::WatchReason::kUnknownCaptures);
  return begun;
}

void Session::OnEndCapture(phase::StreamKey stream) {
  const base::Locked locked(mutex_);
  if (captures_.End(stream)) EndDueTurn();
}

// Ends a turn that should have ended while its stream was captured, or that was held when collectives were
// captured.
void Session::EndDueTurn() {
  if ((!due_ && !watched_only()) || AnyCapture()) return;
  EndTurn();
  if (!AtWaits()) return;
  armed_ = !turns_.holding();
  SetAttention();
}

// Reads the mode that the arbiter asks for. Returns false if it is off. REQUIRES: a page is attached.
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
  const base::WatchReason crowded = Crowded();
  if ((detector_.locked() || gaps_.by_gaps()) && !watched_only() && alike_ == 0 &&
      crowded == base::WatchReason::kNone && (!detector_.at_waits() || CanEndAtWaits())) {
    phase = gating ? CROSSOVER_PHASE_TAKING : CROSSOVER_PHASE_LOCKED;
  }
  base::StoreWord(&slot.turns, TurnsPerIteration());
  base::StoreWord(&slot.turns_last, overlap_ || gaps_.by_gaps() ? 0 : 1);
  if (detector_.locked() || gaps_.by_gaps()) base::StoreWord(&slot.iteration, Iteration());
  base::StoreWord(&slot.periods, static_cast<std::uint32_t>(detector_.periods_seen()) + gaps_.turns());
  base::WatchReason reason = watch_reason_;
  if (!watched_only() && !gaps_.by_gaps()) reason = obstacle_;
  if (!watched_only() && alike_ == phase::Detector::kMaxPeriod) reason = base::WatchReason::kAlike;
  if (!watched_only() && gaps_.refused()) reason = base::WatchReason::kUnaskable;
  if (!watched_only() && crowded != base::WatchReason::kNone) reason = crowded;
  base::StoreWord(&slot.watch_reason, static_cast<std::uint32_t>(reason));
  base::StoreWord(&slot.phase, phase);
  base::StoreWord(&slot.heartbeat, base::LoadWord(&slot.heartbeat) + 1);
}

// Returns the reasons to attend to launches that do not depend on an arbiter.
std::uint32_t Session::AttentionAlways() const {
  if (!watch_kernels_) return 0;
  return silent_ ? kHookKernels | kHookSilence : kHookKernels;
}

void Session::SetAttention() {
  std::uint32_t why = AttentionAlways();
  if (watching.load(std::memory_order_relaxed)) {
    const bool learning = gaps_.by_gaps() ? gaps_.scanning() : !detector_.locked() || called_ < scan_until_;
    if (learning && !watched_only()) why |= kHookLearning;
    if (armed_) why |= kHookAcquire;
    if (turns_.holding() && !lasts_) why |= kHookCount;
  }
  hook_flags.store(why, std::memory_order_relaxed);
}

// Returns the number of turns in an iteration. If turns usually stall, one of them is given back in its
// middle and counts as two.
std::uint32_t Session::TurnsPerIteration() const {
  if (gaps_.by_gaps()) return 1;
  const std::uint32_t turns = detector_.turns_per_period();
  return idle_watch_.usual() && turns < turn::kMaxTurns ? turns + 1 : turns;
}

// Tells the arbiter how to number iterations. With it, the arbiters of all the job's GPUs give an iteration
// the same number, whenever each of them began to watch.
void Session::NumberIteration() {
  if (!detector_.locked() && !gaps_.by_gaps()) return;
  const std::uint64_t iteration = Iteration();
  // Turns that last until the next launch contain the waits, and gaps may be communication.
  if (overlap_ && !gaps_.by_gaps()) input_wait_.SeeIteration(static_cast<std::uint32_t>(iteration));
  const std::uint64_t turn = turn::TurnOf(turns_.asked()) / turn::TurnsOf(TurnsPerIteration());
  base::StoreWord(&turns_.page()->slot[turns_.slot()].iteration_offset,
                  static_cast<std::uint32_t>(iteration - turn));
}

// Returns the number of the iteration. If turns end at gaps, it is the number of turns, which is nearly the
// same on all ranks.
std::uint32_t Session::Iteration() const {
  return gaps_.by_gaps() ? gaps_.turns() : static_cast<std::uint32_t>(ever_called_ / detector_.period());
}

// Handles a call that waits for collective `sequence`, and thereby joins it.
void Session::OnWait(phase::Sequence sequence, phase::StreamKey stream) {
  if (sequence != 0) since_wait_.store(0, std::memory_order_relaxed);
  OnJoin(sequence, stream);
}

// Does the same if the host has waited. If that was for the last collective, nothing of this job runs on the
// GPU until the next launch.
void Session::OnHostWait(phase::Sequence sequence) {
  OnWait(sequence, 0);
  if (armed_ && sequence == called_ && !turns_.holding() && !gaps_.by_gaps())
    input_wait_.Begin(base::MonotonicNs());
}

void Session::OnJoin(phase::Sequence sequence, phase::StreamKey stream) {
  if (sequence == 0) return;
  if (sequence == called_) {
    detector_.OnJoin();
  } else {
    detector_.OnInnerJoin();
  }
  Arm(sequence, stream);
}

// Handles a query by which the program may leave out the wait for collective `sequence`. The next launch
// begins a turn: it may be one that would come after the wait.
void Session::OnPossibleJoin(phase::Sequence sequence) {
  if (sequence == 0) return;
  if (sequence == called_) {
    detector_.OnPossibleJoin();
  } else {
    detector_.OnPossibleInnerJoin();
  }
  Arm(sequence, 0);
}

// Makes the next compute launch begin a turn, if the turn before ended at collective `sequence` or an older
// one. `stream` is where compute waits, 0 for the host.
void Session::Arm(phase::Sequence sequence, phase::StreamKey stream) {
  if (awaited_ == 0 || sequence < awaited_) return;
  awaited_ = 0;
  armed_ = true;
  joined_stream_ = stream;
  SetAttention();
}

void Session::Forget() {
  ForgetMain();
  detector_.Reset();
  tracker_.Reset();
  gaps_.Forget();
  input_wait_.Forget();
  since_wait_.store(kJoinsBySeeing - kShowsOne, std::memory_order_relaxed);
  called_ = 0;
  scan_until_ = 0;
  awaited_ = 0;
  armed_ = false;
  lasts_ = false;
  alike_ = 0;
  obstacle_ = base::WatchReason::kNone;
  hook_flags.store(AttentionAlways(), std::memory_order_relaxed);
}

}  // namespace crossover::session
