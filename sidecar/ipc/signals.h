// Makes a client's streams wait for signals in device memory before they wait for their gates, if the arbiter
// has signals and the whole path was seen to work (docs/design/0054-signals.md).
//
//     offer: ask   --> want  --> offer: given --> import --> read the head --> ask for a proof --> proven
//                                                                                                    |
//     gate: signals are awaited  <-- compare  <-- read the word of the proof  <----------------------+
//
// From each of these states a refusal leads back to gates alone: one line in the log, and no more waits for
// signals. What is queued stays, and OwnSignals looks after it. No step waits for the driver's GPU work, for
// the signaller or for the arbiter.
//
// Not thread-safe: the arbiter thread makes all calls, except where noted.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "proto/signaller_protocol.h"
#include "proto/turnstile.h"
#include "sidecar/arbiter_client/arbiter_messages.h"
#include "sidecar/arbiter_client/own_fd.h"
#include "sidecar/gates/driver.h"
#include "sidecar/gates/gpu_gate.h"
#include "sidecar/ipc/beat.h"
#include "sidecar/ipc/copies.h"
#include "sidecar/ipc/import.h"
#include "sidecar/ipc/own_signals.h"
#include "sidecar/ipc/refusal.h"
#include "turn/ops.h"

namespace crossover::ipc {

// A Wish says what the environment of the job asks for.
enum class Wish : std::uint8_t {
  kAsOffered,   // signals, if the arbiter offers them
  kAsked,       // as kAsOffered, and the log says so if there are no signals
  kWithoutMps,  // no signals: each signal would wait for a time slice of the signaller's
  kNever,
};

// Signals is the state of one client.
class Signals {
 public:
  constexpr Signals() = default;

  // Starts the exchange of signals at a new turnstile. `gate` is null if the client does not use a GpuGate;
  // then there are no signals. REQUIRES: the objects behind the pointers live as long as the process;
  // `context` is current.
  void Attach(const gates::Driver* driver, CUcontext context, Wish wish, gates::GpuGate* gate,
              const crossover_page* page, turn::SlotIndex slot);
  // Queues no more waits, and looks after those that are queued. The turnstile's arbiter is lost. To be
  // called again once no thread uses the gate.
  void Leave();

  // Takes an offer, and the memory that came along.
  void OnOffer(const crossover_offer& offer, arbiter_client::OwnFd memory);
  // Takes an answer of the signaller.
  void OnProven(const crossover_proof& proof);

  // Goes on as far as that is possible now. `now` is in ns of base::MonotonicNs(). Calls the driver only if
  // `driver_is_free`: no stream is being captured. Returns in how many microseconds to call it again.
  int Tick(std::int64_t now, bool driver_is_free);

  // Fills in the next message to be sent. Returns false if there is none.
  bool NextMessage(arbiter_client::ToArbiter* message);

  // Ends all calls of the driver for good: the process ends, or the context does. Any thread may call it.
  void End();

  // Returns whether streams wait for signals now.
  bool awaited() const { return step_ == Step::kAwaited; }
  // Returns why the last try ended; kNone while there was none.
  Reason refused() const { return refused_; }

 private:
  enum class Step : std::uint8_t {
    kIdle,      // the arbiter has offered nothing
    kWanted,    // the arbiter knows that this client wants signals, and has given none
    kGiven,     // the memory must be imported
    kHead,      // its head is being copied
    kProof,     // the signaller was asked for a proof
    kProven,    // the signaller has written the number
    kReadBack,  // the number is being copied
    kAwaited,   // streams wait for signals
    kStill,     // the signaller's beat stood still, or it did not prove the path: tried again once the beat
                // moves
    kRefused,   // no more tries at this turnstile
  };

  void BeginStep(Step step, std::int64_t now);
  void Want(bool want);
  void StopAwaiting();
  void LookAfterWaits();
  void Refuse(Refusal refusal, Step next = Step::kRefused);
  void RefuseForNow(Refusal refusal);
  Refusal Check(const crossover_offer& offer) const;
  void Advance(std::int64_t now);
  void Import(std::int64_t now);
  void AwaitCopies(std::int64_t now);
  void CheckHead(std::int64_t now);
  void ReadBack(std::int64_t now);
  void CompareProof();
  void Adopt();
  void Watch(std::int64_t now);
  void AwaitBeat(std::int64_t now);
  void DropMapping();
  CUdeviceptr WordOf(const Mapping& mapping, std::size_t offset) const;

  // Other memories stay mapped, because streams may wait there.
  static constexpr std::size_t kMostMemories = 8;

  const gates::Driver* driver_ = nullptr;
  CUcontext context_ = nullptr;
  gates::GpuGate* gate_ = nullptr;
  const crossover_page* page_ = nullptr;
  turn::SlotIndex slot_ = 0;
  Wish wish_ = Wish::kNever;
  Step step_ = Step::kIdle;
  Reason refused_ = Reason::kNone;
  std::atomic<bool> ended_{false};

  std::int64_t attached_ns_ = 0;
  std::int64_t since_ns_ = 0;  // when the present step began
  std::uint32_t area_ = 0;
  std::size_t bytes_ = 0;
  arbiter_client::OwnFd memory_;
  Mapping mapping_;           // the newest, which is not adopted yet; none while its address is 0
  Mapping adopted_;           // the one whose signals are in use, or were last
  std::size_t memories_ = 0;  // memories that stay mapped
  CUdeviceptr signal_ = 0;    // for which streams may wait at this turnstile; 0: none
  turn::TurnNumber looked_after_ = 0;
  Beat beat_;
  bool wants_ = false;
  bool send_want_ = false;
  bool send_prove_ = false;
  std::uint32_t number_ = 0;  // of the last proof
  int failed_proofs_ = 0;     // at this turnstile
  Copies copies_;
  OwnSignals own_;
};

}  // namespace crossover::ipc
