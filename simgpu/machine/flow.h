// Gives this process access to one shared capacity, as one tenant of it: the kernels of a stream on a GPU,
// or the bytes of a rank on a link.
//
// Extend() appends work and returns a mark: the value of the work counter at which that work is done. It
// blocks only while the queue of the flow is full. If the flow still has work, the new work follows without a
// gap, even if the caller woke late from an earlier wait. So give the next piece early, then wait. If the
// flow is idle, the new work starts at the current time. WaitServed() sleeps until a mark is reached and
// returns the logical time at which it was reached; the caller wakes some tens of microseconds later.
//
//   auto out = machine->OpenNodeLink(Direction::kOut, communicator);
//   Mark first = out->Extend(bytes), second = out->Extend(bytes);   // queued back to back
//   Nanos due = out->WaitServed(first);
//   ReportLateness(Late::kRingStep, due, MonotonicNow());
//
// Thread-safe: any thread may extend, wait and look. The flow leaves its capacity when it is destroyed, and
// work that is not done is dropped. If its process dies, the flow leaves within about 20 ms. The destructor
// does not wake waiting threads. REQUIRES: no thread waits on a flow while it is destroyed.
#pragma once

#include <memory>

#include "simgpu/machine/os.h"
#include "simgpu/model/fluid.h"

namespace simgpu {

struct SharedCapacity;
class Machine;

// A Mark is a value of the work counter of a flow.
using Mark = double;

// A Flow is one tenant of a capacity.
class Flow {
 public:
  ~Flow();
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  // Appends `work` with this flow's usual demand. The unit is bytes for a link, ns at full speed for a GPU.
  // Blocks while constants::kPieces pieces of different demand wait on this flow.
  Mark Extend(double work);
  // Appends `work` with the demand `demand`: SMs for a GPU, bytes per second for a link.
  Mark Extend(double work, double demand);

  // Sleeps until `mark` is reached. Returns the logical time at which it was.
  Nanos WaitServed(Mark mark);
  // Does what WaitServed() does, but gives up at `deadline` (CLOCK_MONOTONIC) and then returns kNever.
  Nanos WaitServedUntil(Mark mark, Nanos deadline);
  // Returns the logical time at which `mark` was reached, or kNever if it is not reached yet. The time is
  // exact if the caller asks within the next 64 changes of rate.
  Nanos ReachedAt(Mark mark);
  // Returns when `mark` will be reached if no tenant asks for more, or kNever if nothing moves the flow.
  Nanos Forecast(Mark mark);

  // Served() returns the work done so far. Target() returns what Served() will be when all given work is
  // done.
  double Served();
  Mark Target();

  // Returns the capacity times ns that this flow could have had since its work was done: what no other flow
  // used.
  double Spare();

  // Holds `demand` of the capacity and does not finish, as a collective that spins; 0 lets go. Blocks first
  // until the flow's work is done. Meanwhile Served() counts the ns of holding.
  void Hold(double demand);
  // Says that the flow's owner stands at a word and has nothing to run, or, with kNone, that it goes on. On a
  // machine if such waits have a price, kernels of the same capacity pay it meanwhile.
  void SetBlocked(WordPlace at);
  // Returns true while the flow has its share. In timeslice mode that is while its process has the slice.
  bool Active();
  // Sleeps until Active(), at most until `deadline`. Returns false if it gave up.
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
  double work_per_ns_;  // at full speed; 0 on a link: the demand is bytes per second and work is bytes
};

}  // namespace simgpu
