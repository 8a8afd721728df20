#include "sidecar/ipc/signals.h"

#include <utility>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/log/log.h"
#include "turn/signal_memory.h"

namespace crossover::ipc {
namespace {

// The signaller and the arbiter answer within this time.
constexpr std::int64_t kPatienceNs = 2 * base::kNsPerSecond;
// A copy ends within this time. It may stand behind work of the job in the same hardware channel: some
// iterations that the host has queued, and a wait for a turn in each of them. It holds up no such work.
constexpr std::int64_t kCopyNs = 60 * base::kNsPerSecond;
// After this time it is seldom asked whether a copy has ended.
constexpr std::int64_t kAskOftenNs = base::kNsPerSecond;
// An arbiter that has signals says so right after its welcome.
constexpr std::int64_t kOfferNs = base::kNsPerSecond;
// A signaller that stood still is trusted again once its beat has changed for this long.
constexpr std::int64_t kMovesForNs = base::kNsPerSecond;

constexpr int kSoonUs = 1000;
constexpr int kBeatUs = 40'000;
constexpr int kLaterUs = 100'000;

}  // namespace

void Signals::Attach(const gates::Driver* driver, CUcontext context, Wish wish, gates::GpuGate* gate,
                     const crossover_page* page, turn::SlotIndex slot) {
  driver_ = driver;
  context_ = context;
  gate_ = gate;
  page_ = page;
  slot_ = slot;
  wish_ = gate == nullptr ? Wish::kNever : wish;
  step_ = Step::kIdle;
  refused_ = Reason::kNone;
  attached_ns_ = base::MonotonicNs();
  signal_ = 0;
  failed_proofs_ = 0;
  wants_ = send_want_ = send_prove_ = false;
  memory_ = arbiter_client::OwnFd();
}

void Signals::Leave() {
  StopAwaiting();
  LookAfterWaits();
  wish_ = Wish::kNever;
  step_ = Step::kRefused;
  send_want_ = send_prove_ = false;
  memory_ = arbiter_client::OwnFd();
}

void Signals::BeginStep(Step step, std::int64_t now) {
  step_ = step;
  since_ns_ = now;
}

void Signals::Want(bool want) {
  wants_ = want;
  send_want_ = true;
}

void Signals::StopAwaiting() {
  if (step_ != Step::kAwaited) return;
  gate_->StopAwaiting();
  looked_after_ = gate_->awaited();
  if (!ended_.load()) own_.Add({signal_, &page_->slot[slot_], looked_after_}, &copies_);
}

// Looks after a wait that a thread of the user was queueing while StopAwaiting() was called.
void Signals::LookAfterWaits() {
  if (signal_ == 0 || step_ == Step::kAwaited || ended_.load()) return;
  const turn::TurnNumber newest = gate_->awaited();
  if (std::exchange(looked_after_, newest) != newest) {
    own_.Add({signal_, &page_->slot[slot_], newest}, &copies_);
  }
}

// Goes back to gates alone. The arbiter learns of it, unless it is the one that refuses.
void Signals::Refuse(Refusal refusal, Step next) {
  const bool told = step_ == Step::kAwaited || wish_ == Wish::kAsked || next != Step::kWanted;
  StopAwaiting();
  char text[384];
  Describe(refusal, text, sizeof text);
  log::Write(told ? log::Level::kWarn : log::Level::kInfo, "%s", text);
  refused_ = refusal.reason;
  if (next != Step::kWanted && wants_) Want(false);
  send_prove_ = false;
  memory_ = arbiter_client::OwnFd();
  DropMapping();
  BeginStep(next, base::MonotonicNs());
}

// A signaller that ends does not prove the path. The next one may: it is tried again once a beat moves.
void Signals::RefuseForNow(Refusal refusal) {
  constexpr int kMostTries = 3;
  Refuse(refusal, ++failed_proofs_ < kMostTries ? Step::kStill : Step::kRefused);
}

void Signals::OnOffer(const crossover_offer& offer, arbiter_client::OwnFd memory) {
  if (wish_ == Wish::kNever || ended_.load()) return;
  if (offer.state == CROSSOVER_OFFER_ASK) {
    if (step_ == Step::kRefused) return;
    if (wish_ == Wish::kWithoutMps) return Refuse({Reason::kNoMps});
    StopAwaiting();
    Want(true);
    BeginStep(Step::kWanted, base::MonotonicNs());
    return;
  }
  if (!wants_) return;
  if (const Reason reason = ReasonOf(offer.state); reason != Reason::kNone) {
    const bool said = step_ == Step::kWanted && refused_ != Reason::kNone;
    if (!said) return Refuse({reason, offer.state}, Step::kWanted);
    refused_ = reason;  // another reason: the streams still wait at the turnstile alone
    return;
  }
  StopAwaiting();
  memory_ = static_cast<arbiter_client::OwnFd&&>(memory);
  if (const Refusal refusal = Check(offer); refusal) return Refuse(refusal);
  area_ = offer.area;
  bytes_ = offer.bytes;
  BeginStep(Step::kGiven, base::MonotonicNs());
}

Refusal Signals::Check(const crossover_offer& offer) const {
  if (offer.signal_version != CROSSOVER_SIGNAL_VERSION) return {Reason::kVersion, offer.signal_version};
  if (offer.area == 0 || offer.area > turn::AreasOf(offer.bytes)) return {Reason::kArea, offer.area};
  if (!memory_) return {Reason::kDescriptor};
  if (!CanImport(*driver_)) return {Reason::kFunctions};
  return {};
}

void Signals::OnProven(const crossover_proof& proof) {
  if (step_ != Step::kProof || proof.number != number_ || proof.area != area_) return;
  if (proof.written != 1) return RefuseForNow({Reason::kProofRefused});
  BeginStep(Step::kProven, base::MonotonicNs());
}

bool Signals::NextMessage(arbiter_client::ToArbiter* message) {
  if (std::exchange(send_want_, false)) {
    message->want = {arbiter_client::MakeHeader(CROSSOVER_WANT_SIGNALS, sizeof message->want),
                     wants_ ? 1u : 0u, 0};
    return true;
  }
  if (!std::exchange(send_prove_, false)) return false;
  message->prove = {
      arbiter_client::MakeHeader(CROSSOVER_PROVE, sizeof message->prove), 0, area_, 0, number_, 0};
  return true;
}

int Signals::Tick(std::int64_t now, bool driver_is_free) {
  if (wish_ == Wish::kNever || ended_.load()) return kLaterUs;
  LookAfterWaits();
  if (step_ == Step::kIdle && wish_ == Wish::kAsked && refused_ == Reason::kNone &&
      now - attached_ns_ > kOfferNs) {
    Refuse({Reason::kNoOffer}, Step::kIdle);
  }
  if (driver_is_free) Advance(now);
  switch (step_) {
    case Step::kIdle:
    case Step::kWanted:
    case Step::kRefused:
      return kLaterUs;
    case Step::kAwaited:
    case Step::kStill:
    case Step::kProof:
      return kBeatUs;
    case Step::kGiven:
    case Step::kHead:
    case Step::kProven:
    case Step::kReadBack:
      break;
  }
  return now - since_ns_ <= kAskOftenNs ? kSoonUs : kBeatUs;
}

void Signals::Advance(std::int64_t now) {
  switch (step_) {
    case Step::kIdle:
    case Step::kWanted:
    case Step::kRefused:
      return;
    case Step::kGiven:
      return Import(now);
    case Step::kHead:
    case Step::kReadBack:
      return AwaitCopies(now);
    case Step::kProof:
      if (now - since_ns_ > kPatienceNs) RefuseForNow({Reason::kUnproved});
      return;
    case Step::kProven:
      return ReadBack(now);
    case Step::kAwaited:
      return Watch(now);
    case Step::kStill:
      return AwaitBeat(now);
  }
}

CUdeviceptr Signals::WordOf(const Mapping& mapping, std::size_t offset) const {
  return mapping.LinesOf(area_) + slot_ * sizeof(crossover_signal_line) + offset;
}

void Signals::Import(std::int64_t now) {
  if (const CUresult error = copies_.SetUp(driver_, context_); error != CUDA_SUCCESS) {
    return Refuse({Reason::kCopies, static_cast<std::uint64_t>(error)});
  }
  if (memories_ == kMostMemories) return Refuse({Reason::kMemories, memories_});
  if (copies_.Ask() == Copies::Progress::kBusy && now - since_ns_ <= kCopyNs) return;
  if (copies_.Ask() != Copies::Progress::kDone) return Refuse({Reason::kUnread});
  DropMapping();
  const Refusal refusal = ipc::Import(*driver_, memory_.get(), bytes_, &mapping_);
  memory_ = arbiter_client::OwnFd();
  if (refusal) {
    mapping_ = {};
    return Refuse(refusal);
  }
  const CUdeviceptr head[] = {mapping_.address + offsetof(crossover_signal_head, magic),
                              mapping_.address + offsetof(crossover_signal_head, version)};
  if (!copies_.Read(head, 2)) return Refuse({Reason::kUnread});
  BeginStep(Step::kHead, now);
}

void Signals::AwaitCopies(std::int64_t now) {
  const Copies::Progress progress = copies_.Ask();
  if (progress == Copies::Progress::kBusy && now - since_ns_ <= kCopyNs) return;
  if (progress != Copies::Progress::kDone) return Refuse({Reason::kUnread});
  step_ == Step::kHead ? CheckHead(now) : CompareProof();
}

void Signals::CheckHead(std::int64_t now) {
  if (copies_.word(0) != CROSSOVER_SIGNAL_MAGIC) return Refuse({Reason::kMagic, copies_.word(0)});
  if (copies_.word(1) != CROSSOVER_SIGNAL_VERSION) return Refuse({Reason::kWordsVersion, copies_.word(1)});
  // A number that no earlier proof had. An odd one is not 0.
  number_ = static_cast<std::uint32_t>(now >> 10) | 1u;
  send_prove_ = true;
  BeginStep(Step::kProof, now);
}

// Copies the number from the new mapping and from the one in use: both show it if they are the same memory.
void Signals::ReadBack(std::int64_t now) {
  const Mapping& other = adopted_.bytes == mapping_.bytes ? adopted_ : mapping_;
  const CUdeviceptr words[] = {WordOf(mapping_, offsetof(crossover_signal_line, proof)),
                               WordOf(other, offsetof(crossover_signal_line, proof))};
  if (!copies_.Read(words, 2)) return Refuse({Reason::kUnread});
  BeginStep(Step::kReadBack, now);
}

void Signals::CompareProof() {
  if (copies_.word(0) != number_) return Refuse({Reason::kProofDiffers, copies_.word(0)});
  const bool same = adopted_.bytes == mapping_.bytes && copies_.word(1) == number_;
  if (same) {
    DropMapping();
  } else {
    adopted_ = std::exchange(mapping_, {});
    ++memories_;
  }
  Adopt();
}

void Signals::Adopt() {
  signal_ = WordOf(adopted_, offsetof(crossover_signal_line, signal));
  looked_after_ = gate_->awaited();
  refused_ = Reason::kNone;
  beat_.Forget();
  gate_->AwaitSignals(adopted_.LinesOf(area_));
  BeginStep(Step::kAwaited, base::MonotonicNs());
  log::Write(log::Level::kInfo,
             "streams wait for signals in device memory before they wait at the turnstile");
}

void Signals::Watch(std::int64_t now) {
  if (gate_->signals() == gates::GpuGate::Signals::kNone) return Refuse({Reason::kDriver});
  if (beat_.StandsStill(base::LoadWord(&page_->signaller_beat), now)) Refuse({Reason::kBeat}, Step::kStill);
}

void Signals::AwaitBeat(std::int64_t now) {
  if (beat_.StandsStill(base::LoadWord(&page_->signaller_beat), now)) since_ns_ = now;
  if (now - since_ns_ < kMovesForNs) return;
  Want(true);
  BeginStep(Step::kWanted, now);
}

// Unmaps a memory that is not adopted, unless a copy may still touch it.
void Signals::DropMapping() {
  if (mapping_.address == 0) return;
  if (copies_.Ask() == Copies::Progress::kDone) {
    Unmap(*driver_, mapping_);
  } else {
    ++memories_;
  }
  mapping_ = {};
}

void Signals::End() {
  ended_.store(true);
  copies_.End();
}

}  // namespace crossover::ipc
