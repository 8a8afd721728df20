// Reads what the software machine looks like: nodes, GPUs, links, constants. The source is a YAML file
// (SIMGPU_CONFIG), or SIMGPU_MACHINE=<nodes>x<gpus>[,key=value...] with the scalar keys of the YAML. If
// neither is set, the machine is one node with one GPU. SIMGPU_STATE replaces the state directory in each of
// these cases.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/kernels/cost.h"
#include "simgpu/model/fluid.h"

namespace simgpu {

struct GpuConfig {
  std::string uuid;  // "GPU-" and 8-4-4-4-12 hexadecimal digits
  std::uint64_t memory_mib = constants::kMemoryMib;
  int sms = constants::kSms;
};

struct NodeConfig {
  std::string name;
  std::vector<GpuConfig> gpus;
};

// CollectiveSms says how many SMs a collective holds: a number, or a percentage of the GPU's SMs.
struct CollectiveSms {
  double value = constants::kNcclCtas;
  bool percent = false;
  // Returns the number of SMs on a GPU of `sms` SMs, at least 1.
  int Of(int sms) const;
};

// ChannelOrder says what streams of one hardware channel do to each other. kFree: nothing. kRelease: a
// stream's write of a word waits for all earlier work of the channel. kInOrder: all work of a channel runs
// in the order in which it was queued.
enum class ChannelOrder { kFree, kRelease, kInOrder };

// ComputeMode says whose contexts a GPU may have at once. kDefault: those of any processes.
// kExclusiveProcess: those of one process, or of the clients of an MPS server. kProhibited: none.
enum class ComputeMode { kDefault, kExclusiveProcess, kProhibited };

// A LoadingRule says which launches of a kernel load it: none, the first one, or the first one and each
// `every`-th after it.
struct LoadingRule {
  std::int64_t every = 0;  // 0: never; kOnce: at the first launch alone
  static constexpr std::int64_t kOnce = INT64_MAX;
  // Returns whether launch number `launch` of a kernel, from 0, loads it.
  bool Loads(std::int64_t launch) const { return every > 0 && launch % every == 0; }
};

struct MachineConfig {
  std::string state;  // directory of the shared state
  ShareMode mode = ShareMode::kShared;
  std::int64_t quantum_us = constants::kQuantumUs;
  std::int64_t launch_us = constants::kLaunchUs;
  int queue_depth = constants::kQueueDepth;
  bool private_links = false;
  double node_link_bytes_per_s = constants::kNodeLinkBytesPerS;
  double gpu_link_bytes_per_s = constants::kGpuLinkBytesPerS;
  CollectiveSms nccl_ctas;
  double co_run = constants::kCoRun;  // mps only: the factor on the speed of kernels of several processes
                                      // that run at once
  bool collectives_wait = false;      // a collective begins when the SMs that it wants are free
  double collective_slowdown = constants::kCollectiveSlowdown;  // mps only: beside kernels that fill the GPU
                                                                // a collective takes 1 + this times as long

  // These are the percentages of the SMs that the kernels of a stream ask for at most, in turn. If there are
  // none, each kernel asks for what it says.
  std::vector<double> kernel_mix;

  KernelCosts kernel_costs;    // of kernels of which only the name is known
  bool kernel_effects = true;  // some of these have their effect (simgpu/kernels/effect.h)
  // Copies and collectives of so many bytes, or more, take their time and move nothing.
  std::uint64_t hollow_copies_from = UINT64_MAX;
  std::uint64_t hollow_collectives_from = UINT64_MAX;

  // The keys that follow make the GPU less kind. Their defaults change nothing.
  int channels =
      8;  // hardware channels of a process, unless CUDA_DEVICE_MAX_CONNECTIONS gives another number
  ChannelOrder channel_order = ChannelOrder::kFree;
  std::int64_t handover_us = 0;  // from a stream's write of a word until a stream that waits for it goes on
  std::int64_t switch_us = 0;    // timeslice only: from one process's slice to that of another
  // These two say what each wait that stands at a word adds to every kernel of its GPU, by where the word is.
  std::int64_t blocked_wait_ns = 0;
  std::int64_t blocked_device_wait_ns = 0;
  std::int64_t outside_copy_us = 0;  // mps only: what a copy of a process outside MPS waits for
  ComputeMode compute_mode = ComputeMode::kDefault;
  LoadingRule lazy_loading;     // the launches of a kernel that wait for all work of the context
  std::int64_t loading_us = 0;  // host time that a launch takes after this wait
  int node = 0;                 // the node of this process unless SIMGPU_NODE says another
  bool device_files = false;    // if true, a process sees only the GPUs whose /dev/nvidia<place> it may open
  std::vector<NodeConfig> nodes;
};

// Sets one scalar key ("mode", "launch_us", ...) from its text. Returns false, with one line in *error, for
// an unknown key or a value that is not allowed.
bool SetScalar(MachineConfig* config, const std::string& key, const std::string& value, std::string* error);

// Returns the node with number `node`, with `gpus` GPUs of the default kind.
NodeConfig DefaultNode(int node, int gpus);

constexpr int kMaxChannels = 32;  // of a process, as with a real driver
constexpr int kMaxNodes = 64;
constexpr int kMaxGpus = 64;  // GPUs of the whole machine

// These functions parse a machine. They return no value, and put one line in *error, if the input is not a
// machine.
std::optional<MachineConfig> ParseMachineYaml(const std::string& text, std::string* error);
std::optional<MachineConfig> ParseMachineShape(const std::string& shape, std::string* error);

// Reads the machine from the environment: SIMGPU_CONFIG, else SIMGPU_MACHINE, else "1x1". Returns no value,
// and puts one line in *error, if that is not a machine.
std::optional<MachineConfig> LoadMachineConfig(std::string* error);

// Returns the UUID of a GPU for which the configuration gives none.
std::string DefaultUuid(int node, int gpu);

// Checks the machine as a whole: names and UUIDs, the numbers of nodes and GPUs, `node`, and that there is
// a state directory. Returns false, with one line in *error, if something is wrong. Changes nothing.
bool CompleteMachine(MachineConfig* config, std::string* error);

// Returns a number that changes when anything changes on which the shared state depends.
std::uint64_t Digest(const MachineConfig& config);

}  // namespace simgpu
