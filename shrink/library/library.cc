#include <stdlib.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <type_traits>
#include <utility>

#include "common/base/job_environment.h"
#include "common/base/shrink_choice.h"
#include "shrink/library/dry_run.h"
#include "shrink/library/policies.h"
#include "shrink/library/state.h"

namespace crossover::shrink::library {
namespace {

using hooks::kNcclSuccess;
using hooks::kNcclSystemError;
using vote::Reason;

enum class Readiness : std::uint8_t { kUnread, kBeingRead, kRead };

constinit std::atomic<Readiness> readiness{Readiness::kUnread};
constinit std::atomic<bool> is_on{false};

void ReadEnvironment() {
  Reason reason;
  settings = ReadSettings({.shrink = ::getenv(base::kShrinkVariable),
                           .choice = ::getenv(base::kShrinkChoiceVariable),
                           .budget = ::getenv("CROSSOVER_SHRINK_BUDGET_MIB"),
                           .image = ::getenv("CROSSOVER_SHRINK_IMAGE"),
                           .report = ::getenv("CROSSOVER_SHRINK_REPORT"),
                           .error = ::getenv("CROSSOVER_SHRINK_ERROR")},
                          &reason);
  const bool disabled = base::IsOn(::getenv("CROSSOVER_DISABLE"));
  if (!reason.empty()) log::Write(log::Level::kWarn, "shrink: %s; calls stay as they are", reason.text);
  if (!reason.empty() && !disabled) report.Plain(base::PlainReason::kSetting, {});
  if (disabled) settings = {};
  if (Votes(settings)) report.Ask(settings.asked);
  if (settings.mode == Mode::kAdvise) std::atexit(&WriteAdvice);
  is_on.store(settings.mode == Mode::kAdvise || Votes(settings), std::memory_order_relaxed);
}

// Returns how many bytes of the buffer are in use with this call. Those with 8 bits follow each other, also
// in a group, and so use the same bytes.
std::uint64_t RoomFor(const Reduction& call, const Communicator& communicator) {
  const NodeExchange& exchange = communicator.exchange;
  return exchange.is_ready() ? exchange.reserved() + ExchangeBytes(call.count, exchange.position())
                             : communicator.in_group + BufferBytes(call.count);
}

// Says and reports, once for each communicator, why some of its calls stay plain.
void TellOfCalls(Communicator* communicator, Warning warning, base::PlainReason reason, const char* why) {
  const std::uint32_t bit = 1u << static_cast<std::uint32_t>(reason);
  if ((communicator->told & bit) != 0) return;
  communicator->told |= bit;
  Warn(warning, "an all-reduce stays plain", why);
  report.Plain(reason, {});
}

// Returns why a call stays plain on this communicator, or kNone.
WhyPlain WhyNotHere(const Reduction& call, Communicator* communicator) {
  const WhyPlain why = WhyNot({Function::kAllReduce, call.type, call.op, call.count});
  if (why != WhyPlain::kNone) return why;
  if (communicator == nullptr || !communicator->narrow) return WhyPlain::kVerdict;
  const std::uint64_t room = std::uint64_t{communicator->budget_mib} << 20;
  if (call.count > room || RoomFor(call, *communicator) > room) {
    TellOfCalls(communicator, Warning::kTooLarge, base::PlainReason::kTooLarge,
                "CROSSOVER_SHRINK_BUDGET_MIB: expected room for it, and for those of its group, got less");
    return WhyPlain::kBudget;
  }
  if (CaptureOf(static_cast<CUstream>(call.stream)) != Capture::kActive) return WhyPlain::kNone;
  TellOfCalls(communicator, Warning::kCapture, base::PlainReason::kCaptured, "it is captured into a graph");
  return WhyPlain::kCapture;
}

Step StepOf(const Reduction& call, const Communicator& communicator) {
  Step step{reinterpret_cast<CUdeviceptr>(call.send), reinterpret_cast<CUdeviceptr>(call.receive), call.count,
            communicator.in_group + communicator.exchange.reserved(), static_cast<CUstream>(call.stream)};
  if (call.op == kAvg) step.divisor = communicator.exchange.position().ranks();
  return step;
}

// Runs a call outside a group: narrow, reduce, widen.
NcclResult ReduceNow(const Reduction& call, Communicator* communicator, const Step& step) {
  Buffer& buffer = communicator->buffer;
  if (communicator->exchange.is_ready()) return communicator->exchange.Run(buffer, step);
  if (buffer.Narrow(step) != CUDA_SUCCESS) return kNcclUnhandledCudaError;
  auto* narrow = reinterpret_cast<void*>(buffer.At(step.offset));
  const NcclResult result = call.Go(narrow, narrow, kBfloat16);
  if (result != kNcclSuccess) return result;
  return buffer.Widen(step) == CUDA_SUCCESS ? kNcclSuccess : kNcclUnhandledCudaError;
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

bool MakeRoomInGroup() {
  if (group.calls < group.room) return true;
  const std::size_t room = group.room == 0 ? 64 : group.room * 2;
  static_assert(std::is_trivially_copyable_v<Waiting>);
  auto* larger = static_cast<Waiting*>(std::realloc(group.waiting, room * sizeof(Waiting)));
  if (larger == nullptr) return false;
  group.waiting = larger;
  group.room = room;
  return true;
}

NcclResult Reduce(const Reduction& call) {
  if (settings.mode == Mode::kAdvise) return Advise(call);
  if (narrowed.load(std::memory_order_relaxed) == 0) return call.Go(call.send, call.receive, call.type);
  Communicator* communicator = communicators.Find(call.comm);
  if (WhyNotHere(call, communicator) != WhyPlain::kNone) return call.Go(call.send, call.receive, call.type);
  const Step step = StepOf(call, *communicator);
  if (group.depth == 0) return ReduceNow(call, communicator, step);
  if (!MakeRoomInGroup()) return kNcclSystemError;
  // A call with 8 bits has several steps, and only a group that has ended launches one. NCCL sees none of it
  // before.
  if (!communicator->exchange.is_ready()) {
    auto* narrow = reinterpret_cast<void*>(communicator->buffer.At(step.offset));
    const NcclResult result = call.Go(narrow, narrow, kBfloat16);
    if (result != kNcclSuccess) return result;
    communicator->in_group += BufferBytes(call.count);
  }
  group.waiting[group.calls++] = {communicator, step, {}};
  return kNcclSuccess;
}

void NoteOther(const Call& call, NcclComm comm) {
  if (settings.mode != Mode::kAdvise) return;
  const Communicator* communicator = communicators.Find(comm);
  advice.Note({communicator == nullptr ? 0 : communicator->number, call, WhyNot(call)});
}

void CountGroupStart() { ++group.depth; }

// Nothing that the group has is launched before its outermost end. So the narrowing goes to the streams just
// before, and the widening just behind it. Calls with 8 bits run behind it as a whole, in the program's
// order.
NcclResult EndGroup(hooks::PFN_ncclGroup real) {
  if (group.depth > 0) --group.depth;
  if (group.depth == 0 && settings.mode == Mode::kAdvise) MeasureGroup();
  if (group.depth > 0 || (group.calls == 0 && group.splits == 0)) return real();
  const std::size_t calls = std::exchange(group.calls, 0);
  CUresult launched = CUDA_SUCCESS;
  for (std::size_t i = 0; i < calls; ++i) {
    const Waiting& waiting = group.waiting[i];
    waiting.communicator->in_group = 0;
    if (waiting.communicator->exchange.is_ready()) continue;
    const CUresult result = waiting.communicator->buffer.Narrow(waiting.step);
    if (result != CUDA_SUCCESS) launched = result;
  }
  NcclResult result = EndSplits(real());
  for (std::size_t i = 0; i < calls && result == kNcclSuccess && launched == CUDA_SUCCESS; ++i) {
    const Waiting& waiting = group.waiting[i];
    if (waiting.communicator->exchange.is_ready()) {
      result = waiting.communicator->exchange.Run(waiting.communicator->buffer, waiting.step);
    } else {
      launched = waiting.communicator->buffer.Widen(waiting.step);
    }
  }
  if (result != kNcclSuccess) return result;
  return launched == CUDA_SUCCESS ? kNcclSuccess : kNcclUnhandledCudaError;
}

}  // namespace crossover::shrink::library
