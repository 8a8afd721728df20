// One recording of an event: a place in the work of a stream, and in the end the time at which it was
// reached.
//
// A record is *pending* until the stream's thread comes to it, then *anchored* to a mark of the stream's
// flow, so that whoever waits for it sleeps on the flow itself and no thread in between wakes up to tell.
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "simgpu/machine/flow.h"

namespace simgpu {

class Record {
 public:
  // Called once, by the lane's thread. Without a flow it was reached at `time`.
  void Anchor(std::shared_ptr<Flow> flow, Mark mark, Nanos time);

  bool Reached();
  // Sleeps until reached. Logical time.
  Nanos Wait();
  // kNever when not reached.
  Nanos ReachedAt();

  // True when it lies before `mark` of `flow` in that flow's own order: nothing to wait for there.
  bool Precedes(const Flow* flow, Mark mark);

 private:
  void Settle(Nanos time);

  std::uint32_t anchored_ = 0;  // futex
  std::mutex mutex_;
  std::shared_ptr<Flow> flow_;  // null once the time is known
  Mark mark_ = 0;
  Nanos time_ = kNever;
};

using RecordPtr = std::shared_ptr<Record>;

}  // namespace simgpu
