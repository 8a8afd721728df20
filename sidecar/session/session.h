// Implements one client of one GPU. Hooks report to it, and it does what the arbiter asks.
//
// Thread-safe. Hooks call it from any thread of the user, and the arbiter thread calls the part that belongs
// to arbiter_client::Client. The session holds one mutex for a table look-up, or while it queues a few
// operations. A driver whose queue is full may block that queueing until the GPU goes on. ncclCommAbort lets
// the GPU go on, so its hook never takes this mutex. The session does not hold the mutex in a gate that
// blocks.
//
// The session takes no turn while no arbiter is attached. The hooks of the driver then return after one load,
// and those of NCCL and of captures after a few counts under the mutex.
//
// Once a period is known and the arbiter asks for turns, the session does this:
//
//   BeforeCollective()  the collective ends a turn, by the period  -->  releases the turn
//   OnWait()            compute joins that collective              -->  arms the next launch
//   BeforeLaunch()      the first launch of compute after that     -->  acquires the next turn
//
// A job with many turns, or with waits inside a turn, may end its turns at its waits: see session_waits.cc.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "common/base/mutex.h"
#include "common/base/watch_reason.h"
#include "sidecar/arbiter_client/client.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gpu_gate.h"
#include "sidecar/gates/host_gate.h"
#include "sidecar/gates/relay_gate.h"
#include "sidecar/ipc/signals.h"
#include "sidecar/phase/calls.h"
#include "sidecar/phase/detector.h"
#include "sidecar/phase/token.h"
#include "sidecar/phase/tracker.h"
#include "sidecar/session/captures.h"
#include "sidecar/session/communicator_names.h"
#include "sidecar/session/communicators.h"
#include "sidecar/session/gaps.h"
#include "sidecar/session/idle_watch.h"
#include "sidecar/session/input_wait.h"
#include "sidecar/session/reductions.h"
#include "sidecar/session/stretches.h"
#include "sidecar/session/turns.h"
#include "turn/slice.h"

namespace crossover::session {

// A Session is the state of the client: what it has learned, and the turn that it holds.
class Session final : public arbiter_client::Client {
 public:
  constexpr Session() = default;

  // The user's threads call these, from the hooks of NCCL. Communicators are opaque handles.

  // Returns whether the communicator is in the table.
  bool Knows(const void* communicator);
  // Record by which number all ranks know a communicator (communicator_names.h): called before
  // OnCommunicator() with it. `child` may be null.
  void OnCommunicatorId(const void* communicator, std::span<const char> id);
  void OnCommunicatorSplit(const void* parent, const void* child, std::int32_t color);
  // Adds a communicator of `ranks` ranks to the table; `rank` is this process's own. If the table is full,
  // gives the turn back, and takes no turns until it has room.
  void OnCommunicator(const void* communicator, int ranks, int rank = 0);
  // Removes a communicator that is about to end, and gives the turn back.
  void OnCommunicatorEnd(const void* communicator);
  // Removes a communicator that is about to be aborted. A launch of another thread may be blocked behind one
  // of its collectives, and hold the session's mutex. So this takes no lock that is held for longer than a
  // look-up, and queues nothing. The next collective ends the turn, or the arbiter thread does once the turn
  // is idle.
  void OnCommunicatorAbort(const void* communicator);

  // Records that a collective is about to be called, and gives the turn back if it ends here. `ranks` is the
  // number of ranks of a communicator that found no room in the table. Its collectives count like others, so
  // that iterations have the same numbers on all ranks of the job. `call` is what the arbiter learns of it.
  void BeforeCollective(const void* communicator, phase::Token token, phase::StreamKey stream, int ranks = 0,
                        const phase::Call& call = {});

  // Does the same for an NCCL that the library sees by its kernels alone: one of them is about to be
  // launched. `communicator` stands for all kernels in this context.
  void BeforeNcclKernel(const void* communicator, phase::Token token, phase::StreamKey stream);
  // Sets whether launches are searched for such kernels.
  void WatchKernels(bool watch);
  // Ends the count of launches by which the library finds out that no NCCL is called (hooks/bootstrap.h).
  void EndSilence();

  // Prepares for a job that may never make a communicator: it has launched much before it made any (gaps.h).
  // REQUIRES: the arbiter thread is not started yet.
  void ExpectNoCollectives();

  // The user's threads call these, from the hooks of the driver.

  // Learns the stream, begins a turn or makes a yield point, as `hook_flags` asks. May block until the turn
  // comes.
  void BeforeLaunch(phase::StreamKey stream);
  // These functions end a turn that ends at waits. They record that the stream, or every stream, is about to
  // wait for the event, or that the host is about to wait for the GPU. REQUIRES: called before the driver's
  // call.
  void BeforeStreamWait(phase::StreamKey stream, phase::EventKey event);
  void BeforeAllWait(phase::EventKey event);
  void BeforeHostWait();
  // These functions record a call that the driver has executed.
  void OnRecord(phase::EventKey event, phase::StreamKey stream);
  void OnStreamWait(phase::StreamKey stream, phase::EventKey event);
  void OnRecordAll(phase::EventKey event);
  void OnAllWait(phase::EventKey event);
  void OnHostWaitEvent(phase::EventKey event);
  void OnHostWaitStream(phase::StreamKey stream);
  void OnHostWaitContext();
  // These functions record that the host has asked, without waiting, whether an event or a stream is done,
  // and that it is. Such a query counts as a join only in jobs that never block, because unrelated threads
  // ask too: PyTorch's NCCL watchdog asks about every collective, at times of its own. `calls` says that the
  // thread calls collectives: what such a thread has found done it may not wait for (tracker.h).
  void OnHostSawEvent(phase::EventKey event, bool calls);
  void OnHostSawStream(phase::StreamKey stream);
  // Records that a stream was created.
  void OnStreamCreate();
  // These functions forget a handle. OnStreamDestroy() also ends a turn on that stream. It returns whether
  // the stream is being captured; the caller then calls OnCapturedStreamDestroyed(). REQUIRES: called before
  // the driver's call.
  bool OnStreamDestroy(phase::StreamKey stream);
  void OnEventDestroy(phase::EventKey event);
  // Records that a user of a context, perhaps its last one, releases it. REQUIRES: called before the driver's
  // call.
  void OnContextMayEnd();
  // Records that this context is destroyed. REQUIRES: called before the driver's call.
  void OnContextEnds(CUcontext context);
  // Does the same for the session's own context, which is destroyed, or whose device is reset. All that the
  // driver gave the library ends with it, so the session takes no turn from then on. It writes this to the
  // log only if the program goes on to train in another context.
  void OnOwnContextEnds();
  // Records a capture. Returns false, and records nothing, if the stream is being captured already. REQUIRES:
  // called before the driver's call; if this returned true and that call fails, the caller calls
  // OnEndCapture().
  bool OnBeginCapture(const Capture& capture);
  // Records that the driver has answered the call that destroys a captured stream. The capture counts until
  // then: a turn that is due must not end before, because its operations could get into the capture. If the
  // driver has refused, the capture goes on, and the caller calls OnBeginCapture() before this.
  void OnCapturedStreamDestroyed();
  // Records the end of the capture of `stream`, and ends a turn that could not end before. Does nothing if no
  // capture of that stream is known.
  void OnEndCapture(phase::StreamKey stream);
  // Does the same for all captures for which `which` is true.
  template <typename Which>
  void OnEndCaptures(Which which) {
    const base::Locked locked(mutex_);
    if (captures_.EndAll(which)) EndDueTurn();
  }
  // Returns whether any stream is being captured. Takes no lock.
  bool AnyCapture() const { return captures_.any(); }

  // Takes what the arbiter shall learn of compressed reductions, in place of what it had before. Takes no
  // lock that is held for longer than a copy, so that also a thread that aborts a communicator may call it.
  void ReportReductions(const crossover_reductions& report) { reductions_.Put(report); }

  // Stops taking turns for good, whatever the arbiter asks. The first reason goes to the log and to the
  // page.
  void ObserveOnly(base::WatchReason reason);

  // Gives the turn back from the host, and makes the arbiter thread call the driver no more: the process
  // ends, and the driver ends before the library's threads do. Waits for locks of other threads for a fifth
  // of a second at most. If another thread keeps the lock, or a turn comes later, the arbiter thread gives
  // the turn back once it can.
  void OnExit();

  // Sets the driver, the context and the transport for turns. The session tries `transport` (enum
  // crossover_transport) first, with signals as `wish` says. `overlap` says that collectives of this process
  // and compute of another process run side by side on this GPU. If they do not, a turn lasts until its
  // collective has ended, or until the arbiter's watchdog ends it (docs/design/0004-time-slices.md).
  // REQUIRES: the arbiter thread is not started yet.
  void SetUp(const gates::Driver* driver, CUcontext context, std::uint32_t transport, bool overlap,
             ipc::Wish wish = ipc::Wish::kNever);
  // Lets turns end at waits if an iteration has more turns than the page has room for, or waits inside a turn
  // (docs/design/0060-turns-at-every-gap.md). REQUIRES: the arbiter thread is not started yet.
  void AllowTurnsAtWaits();

  // The arbiter thread calls these.
  void OnThreadStart() override;
  std::uint32_t wanted_transport() const override;
  void LimitMemory(std::uint64_t bytes) override;  // any thread may call it
  bool Attach(crossover_page* page, turn::SlotIndex slot) override;
  void StopTaking() override;
  turn::TurnNumber Asked() const override { return turns_.asked(); }
  void Detach() override;
  int OnTick() override;
  void OnOffer(const crossover_offer& offer, arbiter_client::OwnFd memory) override;
  void OnProven(const crossover_proof& proof) override;
  bool NextMessage(arbiter_client::ToArbiter* message) override;
  bool FillProfile(crossover_profile* profile) override;

 private:
  // Returns whether a query counts as a join. Takes no lock, so that a thread that only asks does not wait
  // for a thread that queues operations with the lock.
  bool JoinsBySeeing() const { return since_wait_.load(std::memory_order_relaxed) >= kJoinsBySeeing; }
  bool Follow();
  bool AllAlike();
  void LookForObstacle();
  base::WatchReason Crowded() const;
  // Returns whether turns may be taken, whatever the arbiter's mode is.
  bool MayTake() const {
    return !watched_only() && Crowded() == base::WatchReason::kNone &&
           taking_allowed_.load(std::memory_order_acquire);
  }
  void LookForRoom();
  void TellOfRoom();
  void ForgetThreadsThatAreGone();
  void PublishPhase(bool gating);
  std::uint32_t AttentionAlways() const;
  void SetAttention();
  // Returns whether turns are taken that end at waits.
  bool AtWaits() const { return takes_at_waits_; }
  bool CanEndAtWaits() const;
  bool FollowWaits(bool takes);
  void LeaveWaits();
  void ForgetMain();
  void BeforeWait(phase::EventKey event);
  void EndTurnAtWait();
  void EndTurn();
  void EndTurnBeforeNext();
  void ReleaseTurn(Turns::Next next);
  void EndOrGiveUp();
  void EndDueTurn();
  void CountTurn();
  void NumberIteration();
  std::uint32_t Iteration() const;
  std::uint32_t TurnsPerIteration() const;
  void BeginTurn(phase::StreamKey launching);
  void MakeYieldPoint(phase::StreamKey launching);
  std::uint32_t StretchAsked() const;
  void YieldIdleTurn();
  void AwaitCaptures();
  int TendSignals();
  int TendTurn();
  void LetGoAtExit();
  void LearnGaps(phase::StreamKey launching);
  bool CanBeAsked(phase::StreamKey launching) const;
  void OnUnaskable();
  void PublishGaps();
  void FollowByGaps();
  void LeaveContext();
  void EndOwnContext();
  void TellOfEnd();
  void OnJoin(phase::Sequence sequence, phase::StreamKey stream);
  void OnWait(phase::Sequence sequence, phase::StreamKey stream);
  void OnHostWait(phase::Sequence sequence);
  void OnPossibleJoin(phase::Sequence sequence);
  void Arm(phase::Sequence sequence, phase::StreamKey stream);
  void Forget();
  void ObserveOnlyLocked(base::WatchReason reason);
  bool WatchOnly(base::WatchReason reason);
  bool watched_only() const { return watch_reason_ != base::WatchReason::kNone; }
  void PublishMemory();
  gates::Gate* ChooseGate(crossover_page* page, turn::SlotIndex slot);
  bool TakeTurn(phase::StreamKey launching, bool capturing);
  bool WaitForTurn(phase::StreamKey launching);
  bool FallBack();
  void OnRefused();

  base::Mutex mutex_;
  Communicators communicators_;
  CommunicatorNames names_;
  phase::Calls calls_;
  phase::Detector detector_;
  phase::Tracker tracker_;
  Turns turns_;
  Stretches stretches_;
  // A job counts as one that never blocks once its host has not blocked for a collective during
  // kJoinsBySeeing of them. At its start it has kShowsOne collectives to show that it blocks.
  static constexpr std::uint64_t kShowsOne = 64;
  static constexpr std::uint64_t kJoinsBySeeing = phase::Detector::kMaxPeriod;
  std::atomic<std::uint64_t> since_wait_{kJoinsBySeeing - kShowsOne};  // written with the lock

  phase::Sequence called_ = 0;          // collectives that were watched
  std::uint64_t ever_called_ = 0;       // collectives, watched or not: the same on all ranks of the job
  phase::Sequence scan_until_ = 0;      // new compute streams are looked for until this collective
  phase::Sequence awaited_ = 0;         // turn end whose join begins the next turn, 0 for none
  phase::StreamKey joined_stream_ = 0;  // where that join happened, 0 for the host
  bool armed_ = false;                  // the next compute launch begins a turn
  bool blocked_ = false;                // a thread waits in a gate that blocks
  bool due_ = false;                    // the turn should have ended, but its stream is captured
  bool lasts_ = false;                  // the turn ends where the next one begins: at a launch
  phase::StreamKey main_ = 0;           // the stream of turns that end at waits; 0: none is chosen
  phase::Sequence main_since_ = 0;      // the collective that was about to be called when it was chosen
  bool takes_at_waits_ = false;         // the main stream takes turns
  turn::Slice slice_;                   // the present slice of turns that last
  std::uint32_t mode_ = CROSSOVER_MODE_OFF;
  std::uint32_t transport_ = CROSSOVER_TRANSPORT_NONE;
  base::WatchReason watch_reason_ = base::WatchReason::kNone;
  base::WatchReason obstacle_ = base::WatchReason::kNone;  // why no period is found: it may go away
  std::uint32_t said_obstacles_ = 0;                       // a bit for each base::WatchReason
  IdleWatch idle_watch_;
  InputWait input_wait_;
  Reductions reductions_;
  Gaps gaps_;
  std::uint64_t slow_launches_ = 0;
  bool watch_kernels_ = true;
  bool silent_ = true;       // see EndSilence()
  bool by_kernels_ = false;  // tokens are kernels, of which the amount of data is not known
  bool said_alike_ = false;
  bool said_crowded_ = false;
  bool said_room_ = false;
  bool said_no_waits_ = false;
  std::int64_t looked_for_threads_ns_ = 0;  // when threads that are gone were last looked for
  std::uint32_t alike_ = 0;                 // tokens in a row that made a period of one, by kernels
  Captures captures_;
  std::atomic<bool> taking_allowed_{false};
  base::Mutex set_up_mutex_;          // held while the arbiter thread uses the driver without `mutex_`
  std::atomic<bool> exiting_{false};  // OnExit() was called: the arbiter thread uses the driver no more
  // A communicator was aborted in the present turn, so there is no collective to wait for.
  std::atomic<bool> aborted_{false};

  const gates::Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  bool context_ended_ = false;  // the library has nothing in `context_`, and must not use it
  bool told_of_end_ = true;
  std::atomic<bool> told_of_limit_{false};
  CUevent event_ = nullptr;
  bool host_gate_works_ = false;
  bool overlap_ = true;
  gates::GpuGate gpu_gate_;
  gates::RelayGate relay_gate_;
  gates::HostGate host_gate_;
  ipc::Wish wish_ = ipc::Wish::kNever;
  ipc::Signals signals_;  // the arbiter thread's alone, except for its End()
};

// Returns the session of this process. Constant-initialised, never destroyed.
Session& TheSession();

}  // namespace crossover::session
