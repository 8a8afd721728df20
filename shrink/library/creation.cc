// Makes and ends communicators: the port in the unique ID, the vote, and what a narrowed communicator needs.
#include <stdlib.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "shrink/library/dry_run.h"
#include "shrink/library/image.h"
#include "shrink/library/policies.h"
#include "shrink/library/state.h"

namespace crossover::shrink::library {
namespace {

using hooks::kNcclInProgress;
using hooks::kNcclSuccess;
using hooks::kNcclSystemError;
using meeting::Outcome;
using vote::As;
using vote::MakeReason;
using vote::Origin;
using vote::PlainReason;
using vote::Reason;
using vote::VoterPhase;

constexpr char kRunsPlain[] = "a communicator runs plain";

constinit std::atomic<int> own_device{-1};  // of the first communicator; -1: none

vote::Id IdOf(const NcclUniqueId& id) {
  vote::Id bytes;
  static_assert(sizeof bytes == sizeof id.internal);
  std::memcpy(bytes.data(), id.internal, bytes.size());
  return bytes;
}

bool Blocks(NcclResult result, const void* config) {
  if (result == kNcclInProgress) return false;
  const auto* head = static_cast<const hooks::NcclConfigHead*>(config);
  if (head != nullptr && head->magic == hooks::kNcclConfigMagic && head->size >= sizeof *head) {
    if (head->blocking == 0) return false;
    if (head->blocking == 1) return true;
  }
  const char* blocking = ::getenv("NCCL_COMM_BLOCKING");
  return blocking == nullptr || std::strcmp(blocking, "0") != 0;
}

Reason TooMany() {
  return As(PlainReason::kTooMany, MakeReason("communicators of this process: expected at most %zu, got more",
                                              Communicators::kMost));
}

// Returns whether the current GPU is that of all communicators of this process so far.
bool IsOwnDevice() {
  const Driver* driver = DriverOf(Way::kPast);
  CUdevice device = -1;
  if (driver == nullptr || driver->CtxGetDevice(&device) != CUDA_SUCCESS) return false;
  int none = -1;
  return own_device.compare_exchange_strong(none, device) || none == device;
}

Origin OriginOf(const Init& init, Reason* reason) {
  if (init.ids != 1) {
    *reason = As(PlainReason::kSeveralIds,
                 MakeReason("unique IDs of ncclCommInitRankScalable: expected 1, got %d", init.ids));
  } else if (group.depth > 0) {
    *reason =
        As(PlainReason::kInGroup, MakeReason("ncclCommInitRank: expected outside a group, got inside one"));
  } else if (!Blocks(kNcclSuccess, init.config)) {
    *reason = As(PlainReason::kNonBlocking,
                 MakeReason("blocking (ncclConfig_t, or NCCL_COMM_BLOCKING): expected 1, got 0"));
  } else if (!settings.declines && !IsOwnDevice()) {  // a process that declines needs no GPU
    *reason = As(
        PlainReason::kSeveralGpus,
        MakeReason("current GPU: expected that of this process's first communicator, got another or none"));
  } else {
    return Origin::kInit;
  }
  return Origin::kOther;
}

// Takes what a communicator needs: the buffer on the GPU, and the plans if the level has some.
bool MakeBuffer(Buffer* buffer, Plans* plans, std::uint32_t mib, Reason* reason) {
  if (!communicators.HasRoom()) {
    *reason = TooMany();
    return false;
  }
  if (Exchanges(settings.mode) && InnerFunctions() == nullptr) {
    *reason = As(
        PlainReason::kOldNccl,
        MakeReason("NCCL: expected all functions that an exchange between nodes calls, got too few; use NCCL "
                   "2.18 or later, or bf16"));
    return false;
  }
  const void* image = ImageOf(settings.image, reason);
  if (image == nullptr || !buffer->Make(image, mib, reason)) return false;
  if (settings.mode != Mode::kAdaptive || plans->Make(reason)) return true;
  buffer->Free(true);
  return false;
}

std::uint32_t RanksOf(const Init& init) { return static_cast<std::uint32_t>(init.ranks); }

crossover_span SpanOf(PlainReason reason) {
  if (reason == PlainReason::kOneNode) return CROSSOVER_SPAN_ONE_NODE;
  return reason == PlainReason::kUnevenNodes ? CROSSOVER_SPAN_SEVERAL_NODES : CROSSOVER_SPAN_UNKNOWN;
}

// Says and reports why a communicator runs plain. A reason without a text is reported alone.
void TellPlain(const Init& init, const Reason& reason) {
  if (!reason.empty()) Warn(Warning::kPlain, kRunsPlain, reason.text);
  report.Plain(reason.why, {RanksOf(init), SpanOf(reason.why)});
}

// Aborts a communicator whose creation has to fail.
void Discard(NcclComm* comm) {
  const auto abort =
      reinterpret_cast<hooks::PFN_ncclCommEnd>(RealFunction(Hook::k_ncclCommAbort, "ncclCommAbort"));
  if (abort != nullptr) abort(*comm);
  *comm = nullptr;
}

// Adds the child of a narrowed communicator, which has its verdict. Where that cannot be, the creation of the
// child fails: its other ranks narrow.
NcclResult Inherit(Communicator* parent, NcclComm* child) {
  if (child == nullptr || *child == nullptr) return kNcclSuccess;  // this rank has no part in it
  Reason reason;
  Buffer buffer;
  Plans plans;  // only exchanges have some, and their splits run plain
  if (MakeBuffer(&buffer, &plans, parent->budget_mib, &reason)) {
    if (communicators.Add(*child, true, parent->budget_mib, buffer) != nullptr) {
      narrowed.fetch_add(1, std::memory_order_relaxed);
      report.Narrowed(settings.mode, {});
      return kNcclSuccess;
    }
    buffer.Free(true);
    reason = TooMany();
  }
  Warn(Warning::kSplit,
       "ncclCommSplit or ncclCommShrink fails, because this rank cannot compress as the others will (if it "
       "stays so, set crossover.dev/shrink or CROSSOVER_SHRINK to off on all ranks)",
       reason.text);
  Discard(child);
  return kNcclSystemError;
}

// Makes a communicator known to the dry run. `could_agree` says whether its ranks would vote.
void AddToDryRun(NcclComm comm, bool could_agree) {
  Communicator* added = communicators.Add(comm, false, 0, {});
  if (added != nullptr) added->could_agree = could_agree;
}

// The same for what a split has made, whose ranks would have the verdict of the parent.
void AddChildToDryRun(const Communicator* parent, const NcclComm* child) {
  if (child != nullptr && *child != nullptr) AddToDryRun(*child, parent != nullptr && parent->could_agree);
}

// Makes this process ready for samples, and the communicator known, if NCCL has made it by now.
void AdviseFrom(const Init& init, NcclResult result) {
  if (result != kNcclSuccess && result != kNcclInProgress) return;
  PrepareToMeasure();
  if (init.comm == nullptr || *init.comm == nullptr) return;
  Reason reason;
  const Origin origin = result == kNcclSuccess ? OriginOf(init, &reason) : Origin::kOther;
  AddToDryRun(*init.comm, origin == Origin::kInit && init.ranks > 1);
}

// Fails the creation of a communicator that other ranks may narrow.
NcclResult FailInit(const Init& init, const Reason& reason) {
  Warn(Warning::kFailed,
       "ncclCommInitRank fails, because other ranks may compress and this one does not: start the job again",
       reason.text);
  Discard(init.comm);
  return kNcclRemoteError;
}

// Returns what an exchange is made of.
Wanted WantedOf(const Init& init, const Plans& plans) {
  Wanted wanted;
  wanted.ranks = static_cast<std::size_t>(init.ranks);
  wanted.rank = static_cast<std::size_t>(init.rank);
  wanted.seed = SeedOf(IdOf(init.id));
  const bool adaptive = settings.mode == Mode::kAdaptive;
  wanted.level = adaptive ? "adaptive" : "q8";
  wanted.error_percent = adaptive ? settings.error_percent : 0;
  wanted.plans = plans;
  return wanted;
}

// Makes a communicator narrow whose ranks have all agreed. Takes the buffer and the plans.
NcclResult BeginNarrow(const Init& init, const Outcome& outcome, Buffer buffer, Plans plans) {
  NodeExchange exchange;
  Reason reason;
  auto made = NodeExchange::Made::kReady;
  if (Exchanges(settings.mode))
    made = exchange.Make(*init.comm, WantedOf(init, plans), buffer, outcome.budget_mib, &reason);
  if (made == NodeExchange::Made::kReady) {
    if (communicators.Add(*init.comm, true, outcome.budget_mib, buffer, exchange) != nullptr) {
      narrowed.fetch_add(1, std::memory_order_relaxed);
      report.Narrowed(settings.mode, {RanksOf(init), exchange.is_ready() ? CROSSOVER_SPAN_SEVERAL_NODES
                                                                         : CROSSOVER_SPAN_UNKNOWN});
      return kNcclSuccess;
    }
    reason = TooMany();
    made = NodeExchange::Made::kFailed;
    exchange.Abort();
  }
  if (made == NodeExchange::Made::kFailed) {
    const NcclResult failed = FailInit(init, reason);  // first, because it ends what may use the buffer
    buffer.Free(false);
    return failed;
  }
  buffer.Free(true);
  plans.Free();
  TellPlain(init, reason);
  return kNcclSuccess;
}

// Returns what this rank is ready for.
vote::Proposal ProposalOf(Mode mode) {
  const vote::Codec codec = mode == Mode::kAdaptive ? vote::Codec::kAdaptive
                            : mode == Mode::kQ8     ? vote::Codec::kQ8
                                                    : vote::Codec::kBf16;
  return {0, codec, Exchanges(mode) ? 8u : 16u, settings.budget_mib};
}

// Returns what this rank says of itself, but for what it is ready for.
vote::Hello HelloOf(const Init& init) {
  vote::Hello hello;
  hello.ranks = RanksOf(init);
  hello.rank = static_cast<std::uint32_t>(init.rank);
  hello.id = IdOf(init.id);
  return hello;
}

// Makes the communicator plain. Where rank 0 has opened a port, this rank says no there, so that the others
// need not wait for it.
NcclResult Decline(const Init& init, Meeting meeting) {
  if (meeting.start == vote::Start::kVotes) TheAgreement().Vote(std::move(meeting), HelloOf(init), false);
  TellPlain(init, settings.why_declines);
  return kNcclSuccess;
}

// Votes, and makes the communicator narrow or plain, or lets its creation fail.
NcclResult Agree(const Init& init, Meeting meeting) {
  vote::Hello hello = HelloOf(init);
  hello.proposal = ProposalOf(settings.mode);
  Buffer buffer;
  Plans plans;
  Reason unready;
  const bool ready = MakeBuffer(&buffer, &plans, settings.budget_mib, &unready);
  const Outcome outcome = TheAgreement().Vote(std::move(meeting), hello, ready);
  if (outcome.phase == VoterPhase::kNarrow) return BeginNarrow(init, outcome, buffer, plans);
  if (ready) buffer.Free(true);
  plans.Free();
  if (outcome.phase != VoterPhase::kPlain) return FailInit(init, outcome.reason);
  TellPlain(init, ready ? outcome.reason : unready);
  return kNcclSuccess;
}

}  // namespace

NcclResult EndSplits(NcclResult result) {
  const std::size_t splits = std::exchange(group.splits, 0);
  if (result != kNcclSuccess) return result;
  for (std::size_t i = 0; i < splits; ++i) {
    if (settings.mode == Mode::kAdvise) {
      AddChildToDryRun(group.expected[i].parent, group.expected[i].child);
      continue;
    }
    const NcclResult inherited = Inherit(group.expected[i].parent, group.expected[i].child);
    if (inherited != kNcclSuccess) result = inherited;
  }
  return result;
}

void OfferPort(NcclUniqueId* id) {
  if (!Narrows(settings.mode)) return;
  vote::Id bytes = IdOf(*id);
  Reason reason;
  TheAgreement().Offer(&bytes, &reason);
  if (!reason.empty()) Warn(Warning::kTail, "communicators of a unique ID run plain", reason.text);
  std::memcpy(id->internal, bytes.data(), bytes.size());
}

Meeting BeforeInit(const Init& init) {
  Meeting meeting;
  if (!Votes(settings) || init.comm == nullptr || init.ranks < 1) return meeting;
  Reason reason;
  const Origin origin = OriginOf(init, &reason);
  meeting = TheAgreement().Prepare(origin, IdOf(init.id), static_cast<std::uint32_t>(init.ranks),
                                   static_cast<std::uint32_t>(init.rank));
  if (!reason.empty()) meeting.reason = reason;
  return meeting;
}

NcclResult AfterInit(const Init& init, Meeting meeting, NcclResult result) {
  if (settings.mode == Mode::kAdvise) AdviseFrom(init, result);
  if (result != kNcclSuccess || init.comm == nullptr || *init.comm == nullptr) return result;
  if (!Votes(settings) || init.ranks < 2) return result;
  if (settings.declines) return Decline(init, std::move(meeting));
  if (meeting.start != vote::Start::kVotes) {
    if (!meeting.reason.empty()) {
      TellPlain(init, meeting.reason);
    } else {
      report.Plain(PlainReason::kRefusedBefore, {RanksOf(init), CROSSOVER_SPAN_UNKNOWN});
    }
    return result;
  }
  return Agree(init, std::move(meeting));
}

NcclResult BeforeDerived(NcclComm parent, const void* config) {
  if (narrowed.load(std::memory_order_relaxed) == 0) return kNcclSuccess;
  const Communicator* communicator = communicators.Find(parent);
  if (communicator == nullptr || !communicator->narrow || communicator->exchange.is_ready())
    return kNcclSuccess;
  const bool blocks = Blocks(kNcclSuccess, config);
  if (blocks && (group.depth == 0 || group.splits < std::size(group.expected))) return kNcclSuccess;
  const Reason reason =
      blocks ? MakeReason(
                   "splits in one group: expected at most %zu, got more; end the group earlier, or set "
                   "CROSSOVER_SHRINK=off on all ranks",
                   std::size(group.expected))
             : MakeReason(
                   "blocking (ncclConfig_t or NCCL_COMM_BLOCKING): expected 1, got 0; set 1, or "
                   "CROSSOVER_SHRINK=off on all ranks");
  Warn(Warning::kSplit, "ncclCommSplit or ncclCommShrink of a compressed communicator is refused",
       reason.text);
  return kNcclInvalidUsage;
}

NcclResult AfterDerived(NcclComm parent, NcclComm* child, NcclResult result) {
  if (result != kNcclSuccess) return result;
  if (settings.mode == Mode::kAdvise) {
    Communicator* known = communicators.Find(parent);
    if (group.depth == 0) {
      AddChildToDryRun(known, child);
    } else if (group.splits < std::size(group.expected)) {
      group.expected[group.splits++] = {known, child};
    }
    return result;
  }
  if (narrowed.load(std::memory_order_relaxed) == 0) return result;
  Communicator* communicator = communicators.Find(parent);
  if (communicator == nullptr || !communicator->narrow) return result;
  if (communicator->exchange.is_ready()) {
    Warn(Warning::kSplit, "a communicator of ncclCommSplit or ncclCommShrink runs plain",
         "expected one that ncclCommInitRank makes, got one made from another communicator; bf16 compresses "
         "both");
    report.Plain(PlainReason::kSplit, {});
    return result;
  }
  if (group.depth == 0) return Inherit(communicator, child);
  group.expected[group.splits++] = {communicator, child};
  return result;
}

NcclResult AskAsyncError(PFN_CommGetAsyncError real, NcclComm comm, NcclResult* error) {
  const NcclResult result = real(comm, error);
  if (narrowed.load(std::memory_order_relaxed) == 0) return result;
  if (result != kNcclSuccess || error == nullptr || *error != kNcclSuccess) return result;
  const Communicator* communicator = communicators.Find(comm);
  if (communicator != nullptr && communicator->exchange.is_ready())
    *error = communicator->exchange.AsyncError();
  return result;
}

NcclResult End(hooks::PFN_ncclCommEnd real, NcclComm comm, Ending ending) {
  Communicator* communicator = comm == nullptr ? nullptr : communicators.Find(comm);
  if (communicator == nullptr) return real(comm);
  // It is forgotten before, because NCCL may give its handle to the next communicator of another thread.
  Buffer buffer = communicator->buffer;
  NodeExchange exchange = communicator->exchange;
  Plans plans = exchange.plans();
  const bool narrow = communicator->narrow;
  communicators.Remove(communicator);
  // A kernel of these that hangs would stop NCCL from ending `comm`.
  ending == Ending::kDestroy ? exchange.Destroy() : exchange.Abort();
  const NcclResult result = real(comm);
  if (!narrow) return result;
  narrowed.fetch_sub(1, std::memory_order_relaxed);
  report.Ended(settings.mode);
  buffer.Free(ending == Ending::kDestroy);
  // Work that was aborted may still copy from and to the memory of the plans.
  if (ending == Ending::kDestroy) plans.Free();
  return result;
}

}  // namespace crossover::shrink::library
