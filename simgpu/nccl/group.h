// Implements ncclGroupStart and ncclGroupEnd: keeps what a thread has asked for since the outermost start.
//
// A call outside a group is a group of its own. At the outermost end, the communicators are made first, all
// at once, because one thread may make several ranks. Then the calls are launched, communicator by
// communicator. If a communicator is non-blocking, another thread does that, and the caller gets
// ncclInProgress.
#pragma once

#include <functional>
#include <vector>

#include "simgpu/nccl/comm.h"

namespace simgpu::nccl {

// A SetUp makes a communicator, or splits one. It waits for other ranks.
struct SetUp {
  ncclComm* comm;  // communicator that reports the state; may be null if none is made
  bool blocking;
  std::function<ncclResult_t()> run;
};

// A Group is the open group of one thread.
class Group {
 public:
  static Group& OfThisThread();

  void Start() { ++depth_; }
  // Ends one level. At the outermost level it carries out the group and returns the group's result.
  ncclResult_t End();
  // Makes one call, in a group of its own unless a group is open. Returns what `call` returns if that is a
  // failure, else what End() returns.
  template <typename Call>
  ncclResult_t Run(const Call& call) {
    Start();
    const ncclResult_t result = call();
    const ncclResult_t ended = End();
    return result != ncclSuccess ? result : ended;
  }

  // REQUIRES: both are called between Start() and End().
  void Add(ncclComm* comm, const PendingCall& call);
  void Add(SetUp set_up) { set_ups_.push_back(std::move(set_up)); }
  // Says that a call in the group was refused; the group is then refused as well. Returns `result`.
  ncclResult_t Spoil(ncclResult_t result);

 private:
  struct Batch {
    ncclComm* comm;
    std::vector<PendingCall> calls;
  };

  int depth_ = 0;
  ncclResult_t spoilt_ = ncclSuccess;
  std::vector<SetUp> set_ups_;
  std::vector<Batch> batches_;
};

}  // namespace simgpu::nccl
