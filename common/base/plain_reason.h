// Lists the reasons why a communicator, or calls on it, run plain although the owner of the job asks for
// compressed reductions. The library that compresses gives the reason, and the node daemon shows it.
#pragma once

#include <cstdint>

namespace crossover::base {

// The numbers stay as they are: libraries and daemons of different versions send them to each other.
enum class PlainReason : std::uint32_t {
  kOther = 0,  // also each number that this version does not know
  kSetting = 1,
  kSeveralIds = 2,
  kInGroup = 3,
  kNonBlocking = 4,
  kSeveralGpus = 5,
  kNoPort = 6,
  kRefusedBefore = 7,
  kBudget = 8,
  kKernels = 9,
  kOldNccl = 10,
  kTooMany = 11,
  kUnreadyRank = 12,
  kOtherVersion = 13,
  kOtherBuild = 14,
  kOtherLevel = 15,
  kMissingRank = 16,
  kLostRank = 17,
  kUnreachable = 18,
  kBrokenVote = 19,
  kOneNode = 20,
  kUnevenNodes = 21,
  kSplit = 22,
  kCaptured = 23,
  kTooLarge = 24,
  kOtherError = 25,
  kTimesUnknown = 26,
  kNotNeeded = 27,
  kNoGain = 28,
  kNoChoice = 29,
  kNotSeen = 30,
};
inline constexpr std::uint32_t kPlainReasons = 31;

struct PlainReasonText {
  const char* name;    // the value of the label `reason`; names that were released stay
  const char* words;   // what is so
  const char* advice;  // what a user can do, as the end of a sentence, or ""
};

inline constexpr char kSeeShrinkPage[] = "; docs/shrink.md says what it needs";
inline constexpr PlainReasonText kPlainReasonTexts[kPlainReasons] = {
    {"other", "a reason that only the log of the process has", "; look there for \"runs plain\""},
    {"setting", "a variable CROSSOVER_SHRINK... of the process has a value that is refused",
     "; the log of the process names it"},
    {"several_ids", "the communicator was made with several unique IDs", kSeeShrinkPage},
    {"in_group", "the communicator was made inside a group of NCCL calls", kSeeShrinkPage},
    {"non_blocking", "the communicator does not block",
     "; PyTorch makes one that does with TORCH_NCCL_USE_COMM_NONBLOCKING=0"},
    {"several_gpus", "the process uses several GPUs, or none", "; use one process for each GPU"},
    {"no_port", "the unique ID of the communicator has no port for the vote that this process knows",
     "; rank 0 has to make the ID, and to load the same version of the library"},
    {"refused_before", "the ranks did not agree on an earlier communicator of the process", ""},
    {"budget", "memory that compression needs could not be had, on the GPU or on the host",
     "; lower CROSSOVER_SHRINK_BUDGET_MIB, or raise the memory of the job"},
    {"kernels", "the driver lacks functions that compression calls, or does not load its kernels",
     "; the log of the process has its error"},
    {"old_nccl", "NCCL lacks a function that exchanges between nodes call",
     "; q8 needs NCCL 2.18, and bf16 runs with an older one"},
    {"too_many", "the process has more compressed communicators than the library can keep", ""},
    {"unready_rank", "another rank is not ready", "; its own pod has the reason"},
    {"other_version", "another rank has a library of another version",
     "; start all pods of the job anew, on nodes of one version"},
    {"other_build", "another rank has another build of the library",
     "; start all pods of the job anew, on nodes of one version"},
    {"other_level", "another rank asks for another level, or counts another number of ranks",
     "; all pods of a job need the same crossover.dev/shrink"},
    {"missing_rank",
     "a rank did not vote in time: it has not loaded the library, is late, or cannot reach rank 0",
     "; see whether a NetworkPolicy keeps the pods of the job apart"},
    {"lost_rank", "the connection of a rank ended while the ranks agreed", ""},
    {"unreachable", "rank 0 cannot be reached at its port, does not answer in time, or ended the connection",
     "; see whether rank 0 has the library, and whether a NetworkPolicy keeps the pods of the job apart"},
    {"broken_vote", "the connection to another rank brought what was not expected there",
     "; another program, or another job, may answer at its port"},
    {"one_node", "all ranks of the communicator are on one node", "; bf16 runs within a node, too"},
    {"uneven_nodes", "the nodes do not have equally many ranks that follow each other",
     "; give each pod equally many ranks, or use bf16"},
    {"split", "the communicator was split from one that exchanges codes between nodes",
     "; with bf16, splits are compressed, too"},
    {"captured", "an all-reduce is captured into a CUDA graph", "; such calls stay plain"},
    {"too_large", "an all-reduce needs more memory than CROSSOVER_SHRINK_BUDGET_MIB has",
     "; raise it on all ranks"},
    {"other_error", "another rank has another CROSSOVER_SHRINK_ERROR",
     "; set it alike in all pods of the job"},
    {"times_unknown", "the times of the job, or of one beside it, are not known yet",
     "; a later run of the job can have a level"},
    {"not_needed", "turns with other jobs hide the wait for communication", ""},
    {"no_gain", "no level makes a step of the job shorter by 3%, or the job makes no all-reduces", ""},
    {"no_choice", "the pod has no choice of a level that this version knows",
     "; the extender chooses one when it places the job, and may be of another version"},
    {"not_seen", "the library that compresses sees no communicator of the process",
     "; NCCL may be linked into the program, or a launcher may clear LD_PRELOAD"},
};

// Returns the reason of this number, or kOther: another process sent it, and a newer one may know more.
constexpr PlainReason PlainReasonOf(std::uint32_t number) {
  return number < kPlainReasons ? PlainReason{number} : PlainReason::kOther;
}

// Returns how a reason is named and said. `reason` may have any value, because another process sent it.
constexpr const PlainReasonText& TextOf(PlainReason reason) {
  const auto number = static_cast<std::uint32_t>(reason);
  return kPlainReasonTexts[static_cast<std::uint32_t>(PlainReasonOf(number))];
}

}  // namespace crossover::base
