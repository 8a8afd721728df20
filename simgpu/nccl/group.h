// ncclGroupStart and ncclGroupEnd: what a thread has asked for since the outermost start.
//
// Every call is a group of its own where none is open. At the outermost end, first the communicators are made
// (all at once: one thread may make several ranks), then the calls are launched, communicator by
// communicator. Where a communicator is non-blocking, a thread does it, and the caller gets ncclInProgress.
#pragma once

#include <functional>
#include <vector>

#include "simgpu/nccl/comm.h"

namespace simgpu::nccl {

// Makes a communicator, or splits one: waits for other ranks.
struct SetUp {
  ncclComm* comm;  // whose state tells how it goes; may be null where nothing is made
  bool blocking;
  std::function<ncclResult_t()> run;
};

class Group {
 public:
  static Group& OfThisThread();

  void Start() { ++depth_; }
  ncclResult_t End();

  // Both are for use between Start() and End().
  void Add(ncclComm* comm, const PendingCall& call);
  void Add(SetUp set_up) { set_ups_.push_back(std::move(set_up)); }
  // A call in the group was refused: so is the group.
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
