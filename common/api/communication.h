// Defines what is known of the NCCL functions that a job calls in one iteration. They are plain values.
//
// A node says what the ranks of its pods call (NcclCall). The extender joins what all nodes say of one job
// (profiles/communication.h), and keeps the result in the job's profile (Communication).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crossover::api {

enum class NcclFunction : std::uint8_t {
  kAllReduce,
  kBroadcast,
  kReduce,
  kAllGather,
  kReduceScatter,
  kSend,
  kRecv,
  kAlltoAll,
  kGather,
  kScatter
};

// Returns the name as NCCL has it, without its prefix: AllReduce.
const char* NameOf(NcclFunction function);
std::optional<NcclFunction> FunctionNamed(std::string_view name);
// Returns whether one rank of a call is its root.
bool HasRoot(NcclFunction function);
// Returns whether a call is between two ranks: it is Send or Recv.
bool IsBetweenTwo(NcclFunction function);

// Returns the bytes that each of `ranks` ranks sends to the next one along NCCL's ring, for a call whose
// arguments count `bytes`; extender/profiles/flows.h has the source. For functions that do not give all ranks
// equal parts, that is `bytes`, which not every rank sends.
constexpr double RingBytes(NcclFunction function, double ranks, double bytes) {
  if (function == NcclFunction::kAllReduce) return 2 * (ranks - 1) * bytes / ranks;
  const bool is_share = function == NcclFunction::kAllGather || function == NcclFunction::kReduceScatter;
  return is_share ? (ranks - 1) * bytes : bytes;
}

// An NcclCall says what one rank of a communicator calls in an iteration. A node reports it, so any pod may
// have sent it.
struct NcclCall {
  std::string pod;
  std::uint64_t communicator = 0;  // all ranks of one communicator report the same number
  int size = 0;                    // ranks of the communicator
  int rank = 0;                    // the rank that calls, below `size`
  NcclFunction function = NcclFunction::kAllReduce;
  std::optional<int> peer{};  // the other rank of Send and Recv, or the root if HasRoot()
  std::uint64_t bytes = 0;    // sum over its calls of count times size of the data type

  friend auto operator<=>(const NcclCall&, const NcclCall&) = default;
};

// A CallGroup is a call that several ranks make together, or what one rank sends to another.
struct CallGroup {
  NcclFunction function = NcclFunction::kAllReduce;
  // The pods of the ranks, in the order of the ranks; a pod is there once for each of its ranks. If the
  // function HasRoot(), the root is the first, and rank 0 follows the last rank. Send has the sender and then
  // the receiver.
  std::vector<int> members;
  std::uint64_t bytes = 0;  // of an iteration, counted as in NcclCall

  friend bool operator==(const CallGroup&, const CallGroup&) = default;
};

// A Communication is what the pods of a job call in an iteration. Pods are numbered from 0 in the order of
// their ranks (gang/pod_rank.h).
struct Communication {
  int pods = 0;
  int runs = 0;        // runs in a row that agreed, the last one included; 0: nothing is known
  std::string gang{};  // of the last run
  double began_s = 0;  // the last run's beginning, in seconds since 1970
  std::vector<CallGroup> groups;
  // Holds the compute of each pod in an iteration, in seconds on a GPU of speed 1 (GangSettings::gpu_speeds);
  // empty: it is not known of all pods.
  std::vector<double> compute_s{};

  friend bool operator==(const Communication&, const Communication&) = default;
};

// These limits bound what is read from nodes and from JobProfiles.
inline constexpr std::size_t kMostCallsOfJob = 64;  // of a job on one node
inline constexpr int kMostRanks = 1 << 20;          // of a communicator
inline constexpr std::uint64_t kMostCallBytes = 1'000'000'000'000'000;
inline constexpr std::size_t kMostCallGroups = 256;
inline constexpr std::size_t kMostMembers = 1 << 14;  // pods, and members of all groups of a job together

}  // namespace crossover::api
