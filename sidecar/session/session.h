// One client of one GPU: what the hooks report comes in here, what the arbiter asks is done here.
//
// Thread-safe: hooks call it from any thread of the user, the helper thread calls the part that belongs to
// link::Client. One lock, held for a table look-up or for queueing a few operations, for which a driver whose
// queue is full may make us wait until the GPU goes on: what lets it go on, an abort, takes that lock not.
// Where a gate blocks it is not held. No turn is taken while no arbiter is attached: hooks of the driver then
// return after one load, those of NCCL and of captures after a few counts under the lock.
#pragma once

#include <atomic>
#include <cstdint>

#include "common/base/mutex.h"
#include "common/base/watch_reason.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gpu_gate.h"
#include "sidecar/gates/host_gate.h"
#include "sidecar/gates/relay_gate.h"
#include "sidecar/link/client.h"
#include "sidecar/phase/detector.h"
#include "sidecar/phase/token.h"
#include "sidecar/phase/tracker.h"
#include "sidecar/session/communicators.h"
#include "sidecar/session/gaps.h"
#include "sidecar/session/idle_watch.h"
#include "sidecar/session/stretches.h"
#include "sidecar/session/turns.h"

namespace crossover::session {

class Session final : public link::Client {
 public:
  constexpr Session() = default;

  // --- The user's side: NCCL. Communicators are opaque.
  bool Knows(const void* communicator);
  void OnCommunicator(const void* communicator, int ranks);
  void OnCommunicatorEnd(const void* communicator);
  // Before the call that ends it whatever its collectives wait for. A launch may stand behind one of them,
  // with our lock held: takes no lock that is held for longer than a look-up, and queues nothing. What is
  // left of the turn is seen to by the next collective, or by the helper once the turn is idle.
  void OnCommunicatorAbort(const void* communicator);

  // A collective is about to be called: gives the turn back if it ends here.
  void BeforeCollective(const void* communicator, phase::Token token, phase::StreamKey stream);

  // The same where NCCL is seen by its kernels alone: one of them is about to be launched. `communicator`:
  // that of all kernels in this context.
  void BeforeNcclKernel(const void* communicator, phase::Token token, phase::StreamKey stream);
  // Whether launches are to be looked at for such kernels.
  void WatchKernels(bool watch);
  // Launches are no longer counted to find out that no NCCL is called (hooks/activation.h).
  void EndSilence();

  // Much was launched before any communicator was made: perhaps none ever is (gaps.h). Before the helper
  // thread is started.
  void ExpectNoCollectives();

  // --- The user's side: the driver.
  void BeforeLaunch(phase::StreamKey stream);  // only when `attention` asks for it
  void OnRecord(phase::EventKey event, phase::StreamKey stream);
  void OnStreamWait(phase::StreamKey stream, phase::EventKey event);
  void OnHostWaitEvent(phase::EventKey event);
  void OnHostWaitStream(phase::StreamKey stream);
  void OnHostWaitContext();
  // The host has asked, without waiting, whether an event or a stream is done, and it is. What a job waits
  // for so, other threads only look at (PyTorch's watchdog does, at every collective, when it comes round):
  // it counts in jobs that have no other way to wait.
  void OnHostSawEvent(phase::EventKey event);
  void OnHostSawStream(phase::StreamKey stream);
  void OnStreamCreate();
  void OnStreamDestroy(phase::StreamKey stream);
  void OnEventDestroy(phase::EventKey event);
  // Before the call: a context is let go by somebody, perhaps the last.
  void OnContextMayEnd();
  // Before the call: this context is destroyed.
  void OnContextEnds(CUcontext context);
  // Likewise, ours: destroyed, or the device of it reset. All that the driver gave us goes with it, so that
  // no turn is taken from here on; who trains on in another context is told so then.
  void OnOwnContextEnds();
  void OnBeginCapture();  // before the call; OnEndCapture() if it fails
  void OnEndCapture();

  // Turns are not taken from here on, whatever the arbiter asks; the first reason goes into the log and the
  // page.
  void ObserveOnly(base::WatchReason reason);

  // What turns are taken with. Before the helper thread is started. `transport`: enum crossover_transport,
  // what is tried first. `overlap`: collectives of this process and compute of another run side by side on
  // this GPU; else a turn lasts until its collective has ended, or for too long
  // (docs/design/0004-time-slices.md).
  void SetUp(const gates::Driver* driver, CUcontext context, std::uint32_t transport, bool overlap);

  // --- The helper thread's side.
  void OnThreadStart() override;
  std::uint32_t wanted_transport() const override;
  bool Attach(crossover_page* page, turn::SlotIndex slot) override;
  void StopTaking() override { taking_allowed_.store(false, std::memory_order_release); }
  turn::TurnNumber Asked() const override { return turns_.asked(); }
  void Detach() override;
  int OnTick() override;
  bool FillProfile(crossover_profile* profile) override;

 private:
  bool AnyCapture() const { return captures_.load(std::memory_order_relaxed) > 0; }
  // Threads that only look need not wait for one that queues, nor for its lock.
  bool JoinsBySeeing() const { return since_wait_.load(std::memory_order_relaxed) >= kJoinsBySeeing; }
  bool Follow();
  bool AllAlike();
  void PublishPhase(bool gating);
  std::uint32_t AttentionAlways() const;
  void SetAttention();
  void EndTurn();
  void EndOrGiveUp();
  void CountTurn();
  void NumberIteration();
  std::uint32_t Iteration() const;
  std::uint32_t TurnsPerIteration() const;
  void BeginTurn(phase::StreamKey launching);
  void MakeYieldPoint(phase::StreamKey launching);
  std::uint32_t StretchAsked() const;
  void YieldIdleTurn();
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
  phase::Detector detector_;
  phase::Tracker tracker_;
  Turns turns_;
  Stretches stretches_;
  // Collectives since one was last waited for, in a way that waits; a job is given some to show one.
  static constexpr std::uint64_t kShowsOne = 64;
  static constexpr std::uint64_t kJoinsBySeeing = phase::Detector::kMaxPeriod;
  std::atomic<std::uint64_t> since_wait_{kJoinsBySeeing - kShowsOne};  // written with the lock

  phase::Sequence called_ = 0;          // collectives that counted
  std::uint64_t ever_called_ = 0;       // watched or not: the same on all ranks of the job
  phase::Sequence scan_until_ = 0;      // look for new compute streams until then
  phase::Sequence awaited_ = 0;         // turn end whose join begins the next turn, 0 for none
  phase::StreamKey joined_stream_ = 0;  // where that join happened, 0 for the host
  bool armed_ = false;                  // the next compute launch begins a turn
  bool blocked_ = false;                // a thread waits in a gate that blocks
  bool due_ = false;                    // the turn should have ended, and its stream is captured
  bool lasts_ = false;                  // the turn ends where the next one begins: at a launch
  std::uint32_t mode_ = CROSSOVER_MODE_OFF;
  std::uint32_t transport_ = CROSSOVER_TRANSPORT_NONE;
  base::WatchReason watch_reason_ = base::WatchReason::kNone;
  IdleWatch idle_watch_;
  Gaps gaps_;
  std::uint64_t slow_launches_ = 0;
  bool watch_kernels_ = true;
  bool silent_ = true;       // see EndSilence()
  bool by_kernels_ = false;  // tokens are kernels: how much they move is not known
  bool said_alike_ = false;
  std::uint32_t alike_ = 0;       // tokens in a row that made a period of one, by kernels
  std::atomic<int> captures_{0};  // streams being captured now
  std::atomic<bool> taking_allowed_{false};
  std::atomic<bool> aborted_{
      false};  // in the present turn, a communicator: there is no collective to wait for

  const gates::Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  bool context_ended_ = false;  // nothing of ours is in it any more, and nothing may be asked of it
  bool told_of_end_ = true;
  CUevent event_ = nullptr;
  bool host_gate_works_ = false;
  bool overlap_ = true;
  gates::GpuGate gpu_gate_;
  gates::RelayGate relay_gate_;
  gates::HostGate host_gate_;
};

// The process's own. Constant-initialised, never destroyed.
Session& TheSession();

}  // namespace crossover::session
