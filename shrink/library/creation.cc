// Makes and ends communicators: the port in the unique ID, the vote, and what a narrowed communicator needs.
#include <stdlib.h>

#include <atomic>
#include <cstring>
#include <utility>

#include "shrink/library/image.h"
#include "shrink/library/policies.h"
#include "shrink/library/state.h"

namespace crossover::shrink::library {
namespace {

using hooks::kNcclInProgress;
using hooks::kNcclSuccess;
using hooks::kNcclSystemError;
using meeting::Outcome;
using vote::MakeReason;
using vote::Origin;
using vote::Reason;
using vote::VoterPhase;

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
    *reason = MakeReason("unique IDs: expected 1, got %d", init.ids);
  } else if (group.depth > 0) {
    *reason = MakeReason("ncclCommInitRank: expected outside a group, got inside one");
  } else if (!Blocks(kNcclSuccess, init.config)) {
    *reason = MakeReason("communicator: expected one that blocks, got one that does not");
  } else if (!IsOwnDevice()) {
    *reason = MakeReason("GPUs of this process: expected 1, got several or none");
  } else {
    return Origin::kInit;
  }
  return Origin::kOther;
}

bool MakeBuffer(Buffer* buffer, std::uint32_t mib, Reason* reason) {
  if (!communicators.HasRoom()) {
    *reason = MakeReason("communicators: expected at most %zu, got more", Communicators::kMost);
    return false;
  }
  if (settings.mode == Mode::kQ8 && InnerFunctions() == nullptr) {
    *reason = MakeReason("NCCL: expected one with ncclCommSplit, from 2.18 on, got an older one");
    return false;
  }
  const void* image = ImageOf(settings.image, reason);
  return image != nullptr && buffer->Make(image, mib, reason);
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
  const bool made = MakeBuffer(&buffer, parent->budget_mib, &reason);
  if (made && communicators.Add(*child, true, parent->budget_mib, buffer) != nullptr) {
    narrowed.fetch_add(1, std::memory_order_relaxed);
    return kNcclSuccess;
  }
  if (made) buffer.Free(true);
  Warn(Warning::kSplit, "the split of a narrowed communicator fails", reason.text);
  Discard(child);
  return kNcclSystemError;
}

// Fails the creation of a communicator that other ranks may narrow.
NcclResult FailInit(const Init& init, const Reason& reason) {
  Warn(Warning::kFailed, "the communicator fails, because others may narrow", reason.text);
  Discard(init.comm);
  return kNcclRemoteError;
}

// Makes a communicator narrow whose ranks have all agreed. Takes the buffer.
NcclResult BeginNarrow(const Init& init, const Outcome& outcome, Buffer buffer) {
  NodeExchange exchange;
  Reason reason;
  auto made = NodeExchange::Made::kReady;
  if (settings.mode == Mode::kQ8)
    made =
        exchange.Make(*init.comm, static_cast<std::size_t>(init.ranks), static_cast<std::size_t>(init.rank),
                      SeedOf(IdOf(init.id)), buffer, outcome.budget_mib, &reason);
  if (made == NodeExchange::Made::kReady) {
    if (communicators.Add(*init.comm, true, outcome.budget_mib, buffer, exchange) != nullptr) {
      narrowed.fetch_add(1, std::memory_order_relaxed);
      return kNcclSuccess;
    }
    reason = MakeReason("communicators: expected at most %zu, got more", Communicators::kMost);
    made = NodeExchange::Made::kFailed;
    exchange.Abort();
  }
  if (made == NodeExchange::Made::kFailed) {
    const NcclResult failed = FailInit(init, reason);  // first, because it ends what may use the buffer
    buffer.Free(false);
    return failed;
  }
  buffer.Free(true);
  Warn(Warning::kPlain, "runs plain", reason.text);
  return kNcclSuccess;
}

// Votes, and makes the communicator narrow or plain, or lets its creation fail.
NcclResult Agree(const Init& init, Meeting meeting) {
  vote::Hello hello;
  hello.ranks = static_cast<std::uint32_t>(init.ranks);
  hello.rank = static_cast<std::uint32_t>(init.rank);
  hello.id = IdOf(init.id);
  const bool q8 = settings.mode == Mode::kQ8;
  hello.proposal = {0, q8 ? vote::Codec::kQ8 : vote::Codec::kBf16, q8 ? 8u : 16u, settings.budget_mib};
  Buffer buffer;
  Reason unready;
  const bool ready = MakeBuffer(&buffer, settings.budget_mib, &unready);
  const Outcome outcome = TheAgreement().Vote(std::move(meeting), hello, ready);
  if (outcome.phase == VoterPhase::kNarrow) return BeginNarrow(init, outcome, buffer);
  if (ready) buffer.Free(true);
  if (outcome.phase != VoterPhase::kPlain) return FailInit(init, outcome.reason);
  Warn(Warning::kPlain, "runs plain", ready ? outcome.reason.text : unready.text);
  return kNcclSuccess;
}

}  // namespace

NcclResult EndSplits(NcclResult result) {
  const std::size_t splits = std::exchange(group.splits, 0);
  if (result != kNcclSuccess) return result;
  for (std::size_t i = 0; i < splits; ++i) {
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
  if (!reason.empty()) Warn(Warning::kTail, "communicators of this ID run plain", reason.text);
  std::memcpy(id->internal, bytes.data(), bytes.size());
}

Meeting BeforeInit(const Init& init) {
  Meeting meeting;
  if (!Narrows(settings.mode) || init.comm == nullptr || init.ranks < 1) return meeting;
  Reason reason;
  const Origin origin = OriginOf(init, &reason);
  meeting = TheAgreement().Prepare(origin, IdOf(init.id), static_cast<std::uint32_t>(init.ranks),
                                   static_cast<std::uint32_t>(init.rank));
  if (!reason.empty()) meeting.reason = reason;
  return meeting;
}

NcclResult AfterInit(const Init& init, Meeting meeting, NcclResult result) {
  if (result != kNcclSuccess || init.comm == nullptr || *init.comm == nullptr) return result;
  if (settings.mode == Mode::kAdvise) communicators.Add(*init.comm, false, 0, {});
  if (!Narrows(settings.mode) || init.ranks < 2) return result;
  if (meeting.start != vote::Start::kVotes) {
    if (!meeting.reason.empty()) Warn(Warning::kPlain, "runs plain", meeting.reason.text);
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
  Warn(Warning::kSplit, "the split of a narrowed communicator is refused",
       blocks ? "it is one of more than 32 in a group" : "it does not block");
  return kNcclInvalidUsage;
}

NcclResult AfterDerived(NcclComm parent, NcclComm* child, NcclResult result) {
  if (result != kNcclSuccess) return result;
  if (settings.mode == Mode::kAdvise && group.depth == 0 && child != nullptr && *child != nullptr)
    communicators.Add(*child, false, 0, {});
  if (narrowed.load(std::memory_order_relaxed) == 0) return result;
  Communicator* communicator = communicators.Find(parent);
  if (communicator == nullptr || !communicator->narrow) return result;
  if (communicator->exchange.is_ready()) {
    Warn(Warning::kSplit, "a split runs plain", "q8: expected a communicator with a unique ID of its own");
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
  const bool narrow = communicator->narrow;
  communicators.Remove(communicator);
  // A kernel of these that hangs would stop NCCL from ending `comm`.
  ending == Ending::kDestroy ? exchange.Destroy() : exchange.Abort();
  const NcclResult result = real(comm);
  if (!narrow) return result;
  narrowed.fetch_sub(1, std::memory_order_relaxed);
  buffer.Free(ending == Ending::kDestroy);
  return result;
}

}  // namespace crossover::shrink::library
