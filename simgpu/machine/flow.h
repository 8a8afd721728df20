// A tenant of one shared capacity, as this process uses it: a stream's kernels on a GPU, a rank's bytes on a
// link.
//
// Extend() gives work and returns at once with a mark: the value of the work counter at which that work is
// done. Work given before the last is done follows it without a gap, however late the caller is: give the
// next piece early, then wait. Work given to an idle flow starts at real time. WaitServed() sleeps until a
// mark is reached and returns the exact logical time at which it was; the caller notices some tens of
// microseconds later.
//
//   auto out = machine->OpenNodeLink(Direction::kOut, communicator);
//   Mark first = out->Extend(bytes), second = out->Extend(bytes);   // queued back to back
//   Nanos due = out->WaitServed(first);
//   ReportLateness(Late::kRingStep, due, MonotonicNow());
//
// Thread-safe: any thread may extend, wait and look. The flow leaves its capacity when destroyed (whatever it
// had not done is dropped), or within about 20 ms when its process dies. Waits are not cancelled by the
// destructor: destroy a flow only when nobody waits on it.
#pragma once

#include <memory>

#include "simgpu/machine/os.h"
#include "simgpu/model/fluid.h"

namespace simgpu {

struct SharedCapacity;
class Machine;

using Mark = double;

class Flow {
 public:
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // Appends `work` at this flow's usual demand: bytes for a link, ns at full speed for a GPU.
  Mark Extend(double work);
  // The same with a demand of its own (SMs for a GPU, bytes per second for a link).
  Mark Extend(double work, double demand);

  // Sleeps until `mark` is reached; its logical time.
  Nanos WaitServed(Mark mark);
  // The same, but gives up at `deadline` (CLOCK_MONOTONIC): kNever then.
  Nanos WaitServedUntil(Mark mark, Nanos deadline);
  // The logical time at which `mark` was reached, kNever when it was not yet. Exact as long as it is asked
  // for within the last 64 changes of rate.
  Nanos ReachedAt(Mark mark);
  // When `mark` will be reached if nobody asks for more; kNever when nothing moves it.
  Nanos Forecast(Mark mark);

  // Work done so far, and where it will stand when all given work is done.
  double Served();
  Mark Target();

  // Capacity times ns that this flow could have had since its work was done: what no other flow used.
  double Spare();

  // Hold `demand` of the capacity without finishing (a collective that spins); 0 lets go. Waits first until
  // the flow's work is done. Served() counts the ns of holding.
  void Hold(double demand);
  // True while the flow has its share: in timeslice mode, while its process has the slice.
  bool Active();
  // Sleeps until Active(), at most until `deadline`. False when it gave up.
  bool WaitActive(Nanos deadline);

  double demand() const { return demand_; }

 private:
  friend class Machine;
  Flow(Machine* machine, SharedCapacity* capacity, int tenant, double demand, double work_per_ns)
      : machine_(machine), capacity_(capacity), tenant_(tenant), demand_(demand), work_per_ns_(work_per_ns) {}

  void SleepUntil(Nanos time, std::uint32_t seen);
  double Speed(double demand) const { return work_per_ns_ > 0 ? work_per_ns_ : demand * 1e-9; }

  Machine* machine_;
  SharedCapacity* capacity_;
  int tenant_;
  double demand_;
  double work_per_ns_;  // at full speed; 0: demand is bytes per second and work is bytes
};

}  // namespace simgpu
