// The execution of one task, step by step, on the engine thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/nccl/network.h"
#include "simgpu/nccl/ring.h"

namespace simgpu::nccl {

struct Failure {
  ncclResult_t result = ncclSuccess;
  std::string text;
};

// One end of a Send or Recv.
struct Transfer {
  Call call;
  std::byte* data = nullptr;
  std::uint64_t bytes = 0;
};

// What one kernel stands for: a ring collective, or all Sends and Recvs of a group.
struct Task {
  std::uint32_t number = 0;  // the done word reaches this when the task is over
  std::optional<Call> ring;  // a ring collective; else transfers
  std::uint64_t asked = 0;   // its count as the program said it, where less goes over the links
  std::uint32_t ring_sequence = 0;
  std::byte* staging = nullptr;  // of a ring collective, laid out as its plan says
  std::vector<Transfer> transfers;
};

class Run {
 public:
  virtual ~Run() = default;

  enum class State { kBusy, kDone, kFailed };
  // Does what can be done now without waiting.
  virtual State Advance() = 0;
  // When to call Advance() again at the latest; earlier when a channel becomes readable.
  virtual Nanos WakeAt() const = 0;

  // What must become readable before Advance() can do more.
  virtual std::vector<int> Readers() const = 0;
  // Something is still to be sent to the successor on the ring.
  virtual bool sending() const = 0;

  const Failure& failure() const { return failure_; }

 protected:
  State Fail(ncclResult_t result, std::string text) {
    failure_ = {result, std::move(text)};
    return State::kFailed;
  }
  // What comes from `peer` has ended.
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

// Both keep references to their arguments.
std::unique_ptr<Run> StartRing(const Task& task, Network& network);
std::unique_ptr<Run> StartTransfers(const Task& task, Network& network);

}  // namespace simgpu::nccl
