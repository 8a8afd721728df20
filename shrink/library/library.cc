#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <utility>

#include "common/base/job_environment.h"
#include "shrink/library/communicators.h"
#include "shrink/library/image.h"
#include "shrink/library/policies.h"
#include "sidecar/log/log.h"

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

enum class Readiness : std::uint8_t { kUnread, kBeingRead, kRead };

constinit std::atomic<Readiness> readiness{Readiness::kUnread};
constinit Settings settings;  // valid once `readiness` is kRead
constinit std::atomic<bool> is_on{false};
constinit std::atomic<std::uint32_t> narrowed{0};  // communicators
constinit std::atomic<int> own_device{-1};         // of the first communicator; -1: none
constinit std::atomic<std::uint32_t> warned{0};    // a bit for each Warning
constinit Communicators communicators;
constinit Advice advice;

// A narrowed call of the open group waits there for the end of it.
struct Waiting {
  Communicator* communicator;
  Step step;
};
// A communicator that a split makes inside a group exists from the end of the group on.
struct Expected {
  Communicator* parent = nullptr;
  NcclComm* child = nullptr;
};
struct Group {
  int depth = 0;
  std::size_t calls = 0;
  std::size_t room = 0;
  Waiting* waiting = nullptr;  // `calls` of `room`; stays with the thread
  std::size_t splits = 0;
  Expected expected[32]{};
};
thread_local constinit Group group;

// There is one line for each way in which a job gets less than its owner asks for.
enum class Warning : std::uint8_t { kPlain, kFailed, kCapture, kSplit, kTail };

// Says a line the first time that there is reason for it.
void Warn(Warning warning, const char* what, const char* why) {
  const std::uint32_t bit = 1u << static_cast<std::uint32_t>(warning);
  if ((warned.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  log::Write(log::Level::kWarn, "shrink: %s: %s", what, why);
}

void WriteAdvice() {
  char path[4096];
  if (settings.report != nullptr)
    std::snprintf(path, sizeof path, "%s%d.json", settings.report, static_cast<int>(::getpid()));
  advice.Write(settings.report == nullptr ? nullptr : path);
}

void ReadEnvironment() {
  Reason reason;
  settings = ReadSettings(::getenv(base::kShrinkVariable), ::getenv("CROSSOVER_SHRINK_BUDGET_MIB"),
                          ::getenv("CROSSOVER_SHRINK_IMAGE"), ::getenv("CROSSOVER_SHRINK_REPORT"), &reason);
  if (!reason.empty()) log::Write(log::Level::kWarn, "shrink: %s; calls stay as they are", reason.text);
  if (base::IsOn(::getenv("CROSSOVER_DISABLE"))) settings.mode = Mode::kOff;
  if (settings.mode == Mode::kAdvise) std::atexit(&WriteAdvice);
  is_on.store(settings.mode != Mode::kOff, std::memory_order_relaxed);
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

bool IsCaptured(CUstream stream) {
  const Driver* driver = DriverOf(Way::kPast);
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  return driver != nullptr && driver->StreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
         status != CU_STREAM_CAPTURE_STATUS_NONE;
}

// Returns why a call stays plain on this communicator, or kNone.
WhyPlain WhyNotHere(const Reduction& call, const Communicator* communicator) {
  const WhyPlain why = WhyNot({Function::kAllReduce, call.type, call.op, call.count});
  if (why != WhyPlain::kNone) return why;
  if (communicator == nullptr || !communicator->narrow) return WhyPlain::kVerdict;
  const std::uint64_t room = std::uint64_t{communicator->budget_mib} << 20;
  if (call.count > room || communicator->in_group + BufferBytes(call.count) > room) return WhyPlain::kBudget;
  if (!IsCaptured(static_cast<CUstream>(call.stream))) return WhyPlain::kNone;
  Warn(Warning::kCapture, "an all-reduce stays plain", "it is captured into a graph");
  return WhyPlain::kCapture;
}

bool MakeRoom() {
  if (group.calls < group.room) return true;
  const std::size_t room = group.room == 0 ? 64 : group.room * 2;
  static_assert(std::is_trivially_copyable_v<Waiting>);
  auto* larger = static_cast<Waiting*>(std::realloc(group.waiting, room * sizeof(Waiting)));
  if (larger == nullptr) return false;
  group.waiting = larger;
  group.room = room;
  return true;
}

// Runs a call outside a group: narrow, reduce, widen.
NcclResult ReduceNow(const Reduction& call, Communicator* communicator, const Step& step) {
  Buffer& buffer = communicator->buffer;
  if (buffer.Narrow(step) != CUDA_SUCCESS) return kNcclUnhandledCudaError;
  auto* narrow = reinterpret_cast<void*>(buffer.At(step.offset));
  const NcclResult result = call.Go(narrow, narrow, kBfloat16);
  if (result != kNcclSuccess) return result;
  return buffer.Widen(step) == CUDA_SUCCESS ? kNcclSuccess : kNcclUnhandledCudaError;
}

NcclResult EndSplits(NcclResult result) {
  const std::size_t splits = std::exchange(group.splits, 0);
  if (result != kNcclSuccess) return result;
  for (std::size_t i = 0; i < splits; ++i) {
    const NcclResult inherited = Inherit(group.expected[i].parent, group.expected[i].child);
    if (inherited != kNcclSuccess) result = inherited;
  }
  return result;
}

}  // namespace

bool IsOn() {
  if (readiness.load(std::memory_order_acquire) == Readiness::kRead)
    return is_on.load(std::memory_order_relaxed);
  Readiness unread = Readiness::kUnread;
  if (readiness.compare_exchange_strong(unread, Readiness::kBeingRead)) {
    ReadEnvironment();
    readiness.store(Readiness::kRead, std::memory_order_release);
  }
  while (readiness.load(std::memory_order_acquire) != Readiness::kRead) ::usleep(100);
  return is_on.load(std::memory_order_relaxed);
}

NcclResult Reduce(const Reduction& call) {
  if (settings.mode == Mode::kAdvise) {
    NoteOther({Function::kAllReduce, call.type, call.op, call.count}, call.comm);
    return call.Go(call.send, call.receive, call.type);
  }
  if (narrowed.load(std::memory_order_relaxed) == 0) return call.Go(call.send, call.receive, call.type);
  Communicator* communicator = communicators.Find(call.comm);
  if (WhyNotHere(call, communicator) != WhyPlain::kNone) return call.Go(call.send, call.receive, call.type);
  const Step step{reinterpret_cast<CUdeviceptr>(call.send), reinterpret_cast<CUdeviceptr>(call.receive),
                  call.count, communicator->in_group, static_cast<CUstream>(call.stream)};
  if (group.depth == 0) return ReduceNow(call, communicator, step);
  if (!MakeRoom()) return kNcclSystemError;
  auto* narrow = reinterpret_cast<void*>(communicator->buffer.At(step.offset));
  const NcclResult result = call.Go(narrow, narrow, kBfloat16);
  if (result != kNcclSuccess) return result;
  communicator->in_group += BufferBytes(call.count);
  group.waiting[group.calls++] = {communicator, step};
  return kNcclSuccess;
}

void NoteOther(const Call& call, NcclComm comm) {
  if (settings.mode != Mode::kAdvise) return;
  const Communicator* communicator = communicators.Find(comm);
  advice.Note({communicator == nullptr ? 0 : communicator->number, call, WhyNot(call)});
}

void CountGroupStart() { ++group.depth; }

// Nothing that the group has is launched before its outermost end. So the narrowing goes to the streams just
// before, and the widening just behind.
NcclResult EndGroup(hooks::PFN_ncclGroup real) {
  if (group.depth > 0) --group.depth;
  if (group.depth > 0 || (group.calls == 0 && group.splits == 0)) return real();
  const std::size_t calls = std::exchange(group.calls, 0);
  CUresult launched = CUDA_SUCCESS;
  for (std::size_t i = 0; i < calls; ++i) {
    const Waiting& waiting = group.waiting[i];
    waiting.communicator->in_group = 0;
    const CUresult result = waiting.communicator->buffer.Narrow(waiting.step);
    if (result != CUDA_SUCCESS) launched = result;
  }
  const NcclResult result = EndSplits(real());
  if (result != kNcclSuccess) return result;
  for (std::size_t i = 0; i < calls && launched == CUDA_SUCCESS; ++i)
    launched = group.waiting[i].communicator->buffer.Widen(group.waiting[i].step);
  return launched == CUDA_SUCCESS ? kNcclSuccess : kNcclUnhandledCudaError;
}

void OfferPort(NcclUniqueId* id) {
  if (settings.mode != Mode::kBf16) return;
  vote::Id bytes;
  std::memcpy(bytes.data(), id->internal, bytes.size());
  Reason reason;
  TheAgreement().Offer(&bytes, &reason);
  if (!reason.empty()) Warn(Warning::kTail, "communicators of this ID run plain", reason.text);
  std::memcpy(id->internal, bytes.data(), bytes.size());
}

Meeting BeforeInit(const Init& init) {
  Meeting meeting;
  if (settings.mode != Mode::kBf16 || init.comm == nullptr || init.ranks < 1) return meeting;
  vote::Id id;
  std::memcpy(id.data(), init.id.internal, id.size());
  Reason reason;
  const Origin origin = OriginOf(init, &reason);
  meeting = TheAgreement().Prepare(origin, id, static_cast<std::uint32_t>(init.ranks),
                                   static_cast<std::uint32_t>(init.rank));
  if (!reason.empty()) meeting.reason = reason;
  return meeting;
}

NcclResult AfterInit(const Init& init, Meeting meeting, NcclResult result) {
  if (result != kNcclSuccess || init.comm == nullptr || *init.comm == nullptr) return result;
  if (settings.mode == Mode::kAdvise) communicators.Add(*init.comm, false, 0, {});
  if (settings.mode != Mode::kBf16 || init.ranks < 2) return result;
  if (meeting.start != vote::Start::kVotes) {
    if (!meeting.reason.empty()) Warn(Warning::kPlain, "runs plain", meeting.reason.text);
    return result;
  }
  vote::Hello hello;
  hello.ranks = static_cast<std::uint32_t>(init.ranks);
  hello.rank = static_cast<std::uint32_t>(init.rank);
  std::memcpy(hello.id.data(), init.id.internal, hello.id.size());
  hello.proposal = {0, vote::Codec::kBf16, 16, settings.budget_mib};
  Buffer buffer;
  Reason unready;
  const bool ready = MakeBuffer(&buffer, settings.budget_mib, &unready);
  const Outcome outcome = TheAgreement().Vote(std::move(meeting), hello, ready);
  if (outcome.phase == VoterPhase::kNarrow &&
      communicators.Add(*init.comm, true, outcome.budget_mib, buffer) != nullptr) {
    narrowed.fetch_add(1, std::memory_order_relaxed);
    return result;
  }
  if (ready) buffer.Free(true);
  if (outcome.phase == VoterPhase::kPlain) {
    Warn(Warning::kPlain, "runs plain", ready ? outcome.reason.text : unready.text);
    return result;
  }
  Warn(Warning::kFailed, "the communicator fails, because others may narrow", outcome.reason.text);
  Discard(init.comm);
  return kNcclRemoteError;
}

NcclResult BeforeDerived(NcclComm parent, const void* config) {
  if (narrowed.load(std::memory_order_relaxed) == 0) return kNcclSuccess;
  const Communicator* communicator = communicators.Find(parent);
  if (communicator == nullptr || !communicator->narrow) return kNcclSuccess;
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
  if (group.depth == 0) return Inherit(communicator, child);
  group.expected[group.splits++] = {communicator, child};
  return result;
}

NcclResult End(hooks::PFN_ncclCommEnd real, NcclComm comm, Ending ending) {
  Communicator* communicator = comm == nullptr ? nullptr : communicators.Find(comm);
  if (communicator == nullptr) return real(comm);
  // It is forgotten before, because NCCL may give its handle to the next communicator of another thread.
  Buffer buffer = communicator->buffer;
  const bool narrow = communicator->narrow;
  communicators.Remove(communicator);
  const NcclResult result = real(comm);
  if (!narrow) return result;
  narrowed.fetch_sub(1, std::memory_order_relaxed);
  buffer.Free(ending == Ending::kDestroy);
  return result;
}

}  // namespace crossover::shrink::library
