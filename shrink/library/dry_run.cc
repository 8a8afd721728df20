#include "shrink/library/dry_run.h"

#include <unistd.h>

#include <cstdio>
#include <utility>

#include "shrink/library/image.h"
#include "shrink/library/state.h"

namespace crossover::shrink::library {
namespace {

// Returns why a call would stay plain, or kNone. Calls of a group share the budget of their communicator,
// which this does not count.
WhyPlain WhyNotHere(const Call& call, const Communicator* communicator, CUstream stream) {
  const WhyPlain why = WhyNot(call);
  if (why != WhyPlain::kNone) return why;
  if (communicator == nullptr || !communicator->could_agree) return WhyPlain::kCommunicator;
  const std::uint64_t room = std::uint64_t{settings.budget_mib} << 20;
  if (call.count > room || BufferBytes(call.count) > room) return WhyPlain::kBudget;
  return CaptureOf(stream) == Capture::kActive ? WhyPlain::kCapture : WhyPlain::kNone;
}

void Measure(const Sample& sample) {
  if (!error_kernel.Measure(sample) && !error_kernel.is_ready())
    Warn(Warning::kMeasure, "the dry run measures no more errors", error_kernel.why_not().text);
}

void TakeSample(const Noted& noted, const Reduction& call) {
  const auto stream = static_cast<CUstream>(call.stream);
  if (noted.account == nullptr || call.send == nullptr || !error_kernel.is_ready()) return;
  if (CaptureOf(stream) != Capture::kNone) return;
  const std::uint64_t mark = noted.account->Begin(noted.call, [] { return error_kernel.TakeParts(); });
  if (mark == 0) return;
  const Sample sample{noted.account, mark, reinterpret_cast<CUdeviceptr>(call.send), call.count, stream};
  if (group.depth == 0) return Measure(sample);
  if (!MakeRoomInGroup()) return noted.account->Dropped();
  group.waiting[group.calls++] = {nullptr, {}, sample};
}

}  // namespace

void PrepareToMeasure() {
  vote::Reason reason;
  const void* image = ImageOf(settings.image, &reason);
  error_kernel.Make(DriverOf(Way::kPast), image, reason);
  if (!error_kernel.is_ready())
    Warn(Warning::kMeasure, "the dry run measures no errors", error_kernel.why_not().text);
}

NcclResult Advise(const Reduction& call) {
  const Call seen{Function::kAllReduce, call.type, call.op, call.count};
  const Communicator* communicator = communicators.Find(call.comm);
  const WhyPlain why = WhyNotHere(seen, communicator, static_cast<CUstream>(call.stream));
  const Noted noted = advice.Note({communicator == nullptr ? 0 : communicator->number, seen, why});
  if (why == WhyPlain::kNone) TakeSample(noted, call);
  return call.Go(call.send, call.receive, call.type);
}

void MeasureGroup() {
  const std::size_t calls = std::exchange(group.calls, 0);
  for (std::size_t i = 0; i < calls; ++i) Measure(group.waiting[i].sample);
}

void WriteAdvice() {
  char path[4096];
  if (settings.report != nullptr)
    std::snprintf(path, sizeof path, "%s%d.json", settings.report, static_cast<int>(::getpid()));
  advice.Write(settings.report == nullptr ? nullptr : path, error_kernel.why_not());
}

}  // namespace crossover::shrink::library
