#include "sidecar/session/turns.h"

#include "common/base/futex.h"
#include "sidecar/session/streams.h"

namespace crossover::session {

// A Context makes `context` current for a scope: null streams and registered memory belong to the current
// context. Frameworks have it current on every thread that launches, so this is nearly always one comparison.
class Turns::Context {
 public:
  Context(const gates::Driver* driver, CUcontext context) : driver_(driver) {
    CUcontext current = nullptr;
    if (driver->CtxGetCurrent(&current) != CUDA_SUCCESS) return;
    valid_ = current == context;
    if (valid_) return;
    pushed_ = driver->CtxPushCurrent(context) == CUDA_SUCCESS;
    valid_ = pushed_;
  }
  ~Context() {
    CUcontext popped = nullptr;
    if (pushed_) driver_->CtxPopCurrent(&popped);
  }
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  explicit operator bool() const { return valid_; }

 private:
  const gates::Driver* driver_;
  bool pushed_ = false;
  bool valid_ = false;
};

void Turns::SetUp(const gates::Driver* driver, CUcontext context) {
  driver_ = driver;
  context_ = context;
}

void Turns::Attach(crossover_page* page, turn::SlotIndex slot, gates::Gate* gate, CUevent event) {
  page_ = page;
  slot_ = slot;
  gate_ = gate;
  event_ = event;
  holding_ = false;
  asked_.store(base::LoadWord(&page->slot[slot].rel), std::memory_order_release);
}

void Turns::Detach() {
  gate_ = nullptr;
  page_ = nullptr;
  holding_ = false;
}

bool Turns::Capturing(phase::StreamKey stream) const {
  CUstream handle = nullptr;
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  if (!HandleOf(stream, &handle)) return false;
  const Context context(driver_, context_);
  return !context || driver_->StreamIsCapturing(handle, &status) != CUDA_SUCCESS ||
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

bool Turns::Acquire(phase::StreamKey stream, phase::StreamKey launching, const phase::Tracker& tracker,
                    bool capturing) {
  CUstream handle = nullptr;
  if (!HandleOf(stream, &handle)) {
    stream = launching;
    if (!HandleOf(stream, &handle)) return false;
  }
  if (capturing && (Capturing(stream) || Capturing(launching))) return false;
  const Context context(driver_, context_);
  if (!context) return false;
  const turn::TurnNumber before = asked();
  const turn::TurnNumber k = turn::NextTurn(before);
  // `k` is stored first: a thread that opens this gate because the arbiter is lost must never believe that no
  // stream waits.
  asked_.store(k, std::memory_order_release);
  gate_refused_ = !gate_->Acquire(handle, k);
  if (gate_refused_) {
    asked_.store(before, std::memory_order_release);
    return false;
  }
  Began(stream);
  return capturing || FanOut(handle, launching, tracker);
}

bool Turns::WaitForTurn(phase::StreamKey stream) {
  CUstream handle = nullptr;
  const Context context(driver_, context_);
  if (!context || !HandleOf(stream, &handle)) return false;
  const turn::TurnNumber before = asked();
  const turn::TurnNumber k = turn::NextTurn(before);
  asked_.store(k, std::memory_order_release);
  if (gate_->Acquire(handle, k)) return true;
  asked_.store(before, std::memory_order_release);
  return false;
}

void Turns::Began(phase::StreamKey stream) {
  stream_ = stream;
  one_stream_ = next_one_stream_;
  holding_ = true;
  ++taken_;
}

bool Turns::Yield(phase::StreamKey launching, const phase::Tracker& tracker) {
  CUstream handle = nullptr;
  const Context context(driver_, context_);
  if (!context || !HandleOf(stream_, &handle) || !JoinOthers(handle, tracker)) return false;
  const turn::TurnNumber before = asked();
  asked_.store(turn::NextStretch(before), std::memory_order_release);
  gate_refused_ = !gate_->Yield(handle, before);
  if (gate_refused_) {
    asked_.store(before, std::memory_order_release);
    return false;
  }
  return FanOut(handle, launching, tracker);
}

bool Turns::Release(const phase::Tracker& tracker, bool capturing, Next next) {
  CUstream handle = nullptr;
  if (!HandleOf(stream_, &handle) || (capturing && Capturing(stream_))) return false;
  const Context context(driver_, context_);
  if (!context) return false;
  if (!capturing && !JoinOthers(handle, tracker)) return false;
  const turn::TurnNumber k = asked();
  const gates::Handover handover =
      next == Next::kOwn ? gates::KeepTurn(slot_, k) : gates::ChooseHandover(page_, slot_, k);
  gate_refused_ = !gate_->Release(handle, k, handover);
  if (gate_refused_) return false;
  holding_ = false;
  return true;
}

bool Turns::Let() const { return holding_ && base::LoadWord(&page_->slot[slot_].hold) == asked(); }

bool Turns::Idle(const phase::Tracker& tracker) const {
  if (!Let()) return false;
  const Context context(driver_, context_);
  CUstream handle = nullptr;
  if (!context || !HandleOf(stream_, &handle) || driver_->StreamQuery(handle) != CUDA_SUCCESS) return false;
  if (one_stream_) return true;
  for (const phase::StreamState& other : tracker.streams()) {
    if (!other.compute || other.key == stream_) continue;
    if (!HandleOf(other.key, &handle) || driver_->StreamQuery(handle) != CUDA_SUCCESS) return false;
  }
  return true;
}

bool Turns::OfAnotherThread() const {
  CUstream handle = nullptr;
  return holding_ && !HandleOf(stream_, &handle);
}

bool Turns::ContextLost() const {
  const Context context(driver_, context_);
  if (!context) return true;
  const CUresult answer = driver_->StreamQuery(CU_STREAM_LEGACY);
  return answer != CUDA_SUCCESS && answer != CUDA_ERROR_NOT_READY;
}

void Turns::ReleaseOnHost() {
  const turn::TurnNumber k = asked();
  const gates::Handover handover = gates::ChooseHandover(page_, slot_, k);
  for (const turn::Op& op : turn::Release(slot_, k, handover.successor, handover.open)) {
    gates::WriteOnHost(page_, op);
  }
  holding_ = false;
}

bool Turns::OthersWait() const {
  for (turn::SlotIndex other = 0; other < CROSSOVER_MAX_CLIENTS; ++other) {
    const crossover_slot& slot = page_->slot[other];
    // The words of a client that was killed while it waited still say that it waits, but its mode is off.
    if (other != slot_ && base::LoadWord(&slot.mode) == CROSSOVER_MODE_GATE &&
        base::LoadWord(&slot.ready) != base::LoadWord(&slot.hold)) {
      return true;
    }
  }
  return false;
}

bool Turns::Usable(const phase::StreamState& other, CUstream stream, CUstream* handle) const {
  return other.compute && HandleOf(other.key, handle) && *handle != stream;
}

// Makes `launching` and all other compute streams wait for what `stream` has so far.
bool Turns::FanOut(CUstream stream, phase::StreamKey launching, const phase::Tracker& tracker) const {
  if (one_stream_) return true;
  bool recorded = false;
  const auto tie = [&](CUstream handle) {
    if (!recorded && driver_->EventRecord(event_, stream) != CUDA_SUCCESS) return false;
    recorded = true;
    return driver_->StreamWaitEvent(handle, event_, 0) == CUDA_SUCCESS;
  };
  CUstream handle = nullptr;
  for (const phase::StreamState& other : tracker.streams()) {
    if (Usable(other, stream, &handle) && !tie(handle)) return false;
  }
  if (tracker.IsCompute(launching) || !HandleOf(launching, &handle) || handle == stream) return true;
  return tie(handle);
}

// Makes `stream` wait for what the other compute streams have so far. A stream that carries collectives is
// left out: otherwise the release would wait for a collective.
bool Turns::JoinOthers(CUstream stream, const phase::Tracker& tracker) const {
  if (one_stream_) return true;
  for (const phase::StreamState& other : tracker.streams()) {
    CUstream handle = nullptr;
    if (other.collective || !Usable(other, stream, &handle)) continue;
    if (driver_->EventRecord(event_, handle) != CUDA_SUCCESS ||
        driver_->StreamWaitEvent(stream, event_, 0) != CUDA_SUCCESS) {
      return false;
    }
  }
  return true;
}

}  // namespace crossover::session
