// Represents one recording of an event: a point in the work of a stream and, once it is reached, the time
// of that.
//
// A record is *pending* until the stream's thread comes to it. It is then *anchored* to a mark of the
// stream's flow. Threads that wait for it sleep on the flow itself, so that no thread in between must wake
// up to tell them. Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>

#include "simgpu/machine/flow.h"

namespace simgpu {

class Record {
 public:
  // Returns a record that is reached now.
  static std::shared_ptr<Record> OfNow();

  // Anchors the record to `mark`, which belongs to `flow`. If `flow` is null, the record was reached at
  // `time`. The lane's thread calls it once.
  void Anchor(std::shared_ptr<Flow> flow, Mark mark, Nanos time);

  // Returns true if the record is reached. Does not block.
  bool Reached();
  // Blocks until the record is reached. Returns its logical time.
  Nanos Wait();
  // Returns the logical time at which the record was reached, or kNever.
  Nanos ReachedAt();

  // Returns true if the record was reached, or lies at or before `mark` of `flow` in that flow's own order:
  // work there need not wait for it.
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
