// Executes one task, step by step, on the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/nccl/network.h"
#include "simgpu/nccl/ring.h"

namespace simgpu::nccl {

// A Failure is a result and its text; ncclSuccess means no failure.
struct Failure {
  ncclResult_t result = ncclSuccess;
  std::string text;
};

// A Transfer is one end of a Send or Recv.
struct Transfer {
  Call call;
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
  bool hollow = false;  // takes its time and moves nothing
};

// A Task is the work of one kernel: a ring collective, or all Sends and Recvs of a group.
struct Task {
  std::uint32_t number = 0;  // the done word reaches this when the task is over
  std::optional<Call> ring;  // a ring collective; otherwise the task has transfers
  std::uint64_t asked = 0;   // count that the program gave, if less goes over the links
  std::uint32_t ring_sequence = 0;
  std::byte* staging = nullptr;  // for a ring collective, laid out as its plan says
  bool hollow = false;           // a ring collective that takes its time and moves nothing
  std::vector<Transfer> transfers;
};

// A Run is the execution of one task. The engine thread calls it.
class Run {
 public:
  virtual ~Run() = default;

  enum class State { kBusy, kDone, kFailed };
  // Does what can be done now without waiting.
  virtual State Advance() = 0;
  // Returns when to call Advance() again at the latest. Call it earlier if a channel becomes readable.
  virtual Nanos WakeAt() const = 0;

  // Returns the descriptors that must become readable before Advance() can do more.
  virtual std::vector<int> Readers() const = 0;
  // Returns true while something must still be sent to the successor on the ring.
  virtual bool sending() const = 0;

  const Failure& failure() const { return failure_; }

 protected:
  State Fail(ncclResult_t result, std::string text) {
    failure_ = {result, std::move(text)};
    return State::kFailed;
  }
  // Fails because no more data comes from `peer`.
  State FailEnded(const Network& network, int peer, const Inbound& in) {
    if (in.news()) return Fail(in.news()->result, in.news()->text);
    if (in.broken()) return FailGarbage(network, peer);
    return Fail(ncclRemoteError, network.Describe(peer) + ": connection lost during a collective");
  }
  State FailGarbage(const Network& network, int peer) {
    return Fail(ncclRemoteError, network.Describe(peer) + " has sent what makes no sense");
  }

 private:
  Failure failure_;
};

// Both start a run, which keeps references to their arguments.
std::unique_ptr<Run> StartRing(const Task& task, Network& network);
std::unique_ptr<Run> StartTransfers(const Task& task, Network& network);

}  // namespace simgpu::nccl
