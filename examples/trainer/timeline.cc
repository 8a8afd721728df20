#include "examples/trainer/timeline.h"

#include <cmath>

namespace crossover::trainer {

Timeline::Timeline(Gpu& gpu, std::size_t depth) : gpu_(gpu), slots_(depth + 2) {
  // Find the GPU's time on the host's clock: an event on the idle stream runs at once.
  known_ = gpu_.MakeEvent(true);
  gpu_.Synchronize(gpu_.compute());
  const auto before = base::MonotonicNs();
  gpu_.Record(known_, gpu_.compute());
  known_ns_ = static_cast<double>(before + base::MonotonicNs()) / 2;
  gpu_.HostWait(known_);
}

CUevent Timeline::RecordNew() {
  Slot& slot = current();
  if (slot.used == slot.events.size()) slot.events.push_back(gpu_.MakeEvent(true));
  const CUevent event = slot.events[slot.used++];
  gpu_.Record(event, gpu_.compute());
  return event;
}

void Timeline::BeginIteration(std::uint64_t iteration, bool follows, bool stalled) {
  Slot& slot = current();
  slot.iteration = iteration;
  slot.used = 0;
  slot.segments.clear();
  slot.begin = follows && last_end_ != nullptr ? last_end_ : RecordNew();
  if (!stalled) slot.segments.emplace_back(slot.begin, nullptr);
}

void Timeline::OpenSegment() { current().segments.emplace_back(RecordNew(), nullptr); }

void Timeline::CloseSegment() { current().segments.back().second = RecordNew(); }

void Timeline::EndIteration() {
  CloseSegment();
  last_end_ = current().end = current().segments.back().second;
  ++begun_;
}

IterationRecord Timeline::Collect() {
  const Slot& slot = slots_[collected_++ % slots_.size()];
  gpu_.HostWait(slot.end);
  IterationRecord record;
  record.iteration = slot.iteration;
  const double begin_ns = known_ns_ + gpu_.ElapsedNs(known_, slot.begin);
  const double end_ns = begin_ns + gpu_.ElapsedNs(slot.begin, slot.end);
  double compute_ns = 0;
  for (const auto& [open, close] : slot.segments) compute_ns += gpu_.ElapsedNs(open, close);
  record.begin_ns = std::llround(begin_ns);
  record.end_ns = std::llround(end_ns);
  record.compute_ns = std::llround(compute_ns);
  known_ = slot.end;
  known_ns_ = end_ns;
  return record;
}

}  // namespace crossover::trainer
