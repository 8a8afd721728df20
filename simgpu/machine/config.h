// Reads what the software machine looks like: nodes, GPUs, links, constants. The source is a YAML file
// (SIMGPU_CONFIG), or SIMGPU_MACHINE=<nodes>x<gpus>[,key=value...] with the scalar keys of the YAML. If
// neither is set, the machine is one node with one GPU. SIMGPU_STATE replaces the state directory of each
// of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

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
  int node = 0;               // the node of this process unless SIMGPU_NODE says another
  bool device_files = false;  // if true, a process sees only the GPUs whose /dev/nvidia<place> it may open
  std::vector<NodeConfig> nodes;
};

// Sets one scalar key ("mode", "launch_us", ...) from its text. Returns false, with one line in *error, for
// an unknown key or a value that is not allowed.
bool SetScalar(MachineConfig* config, const std::string& key, const std::string& value, std::string* error);

// Returns the node with number `node`, with `gpus` GPUs of the default kind.
NodeConfig DefaultNode(int node, int gpus);

constexpr int kMaxNodes = 64;
constexpr int kMaxGpus = 64;  // GPUs of the whole machine

// Both parse a machine. They return no value, and put one line in *error, if the input is not a machine.
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
