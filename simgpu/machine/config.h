// What the software machine looks like: nodes, GPUs, links, constants. Read from a YAML file (SIMGPU_CONFIG),
// or from SIMGPU_MACHINE=<nodes>x<gpus>[,key=value...] with the scalar keys of the YAML, or one node with one
// GPU when neither is set. SIMGPU_STATE replaces the state directory of any of them.
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

// SMs that a collective holds: so many, or a part of the GPU.
struct CollectiveSms {
  double value = constants::kNcclCtas;
  bool percent = false;
  // Of a GPU of `sms`; at least one.
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
  double co_run =
      constants::kCoRun;          // mps: what kernels of several processes gain or lose by running at once
  bool collectives_wait = false;  // a collective begins when the SMs that it wants are free
  double collective_slowdown = constants::kCollectiveSlowdown;  // mps: beside kernels that fill the GPU a
                                                                // collective takes 1 + this times as long
  // The n-th kernel of a stream asks for at most so many percent of the SMs, in turn; empty: for what it
  // says.
  std::vector<double> kernel_mix;
  int node = 0;               // where SIMGPU_NODE does not say on which one a process is
  bool device_files = false;  // a process sees the GPUs alone whose /dev/nvidia<place> it may open
  std::vector<NodeConfig> nodes;
};

// Sets one scalar key ("mode", "launch_us", ...) from its text. False, with *error, for an unknown key or a
// value that is not allowed.
bool SetScalar(MachineConfig* config, const std::string& key, const std::string& value, std::string* error);

// A node of `gpus` GPUs of the default kind.
NodeConfig DefaultNode(int node, int gpus);

constexpr int kMaxNodes = 64;
constexpr int kMaxGpus = 64;  // of the whole machine

// Both give no value and one line in *error when the input is not a machine.
std::optional<MachineConfig> ParseMachineYaml(const std::string& text, std::string* error);
std::optional<MachineConfig> ParseMachineShape(const std::string& shape, std::string* error);

// From the environment: SIMGPU_CONFIG, else SIMGPU_MACHINE, else "1x1".
std::optional<MachineConfig> LoadMachineConfig(std::string* error);

// The uuid of a GPU that the configuration only counts.
std::string DefaultUuid(int node, int gpu);

// Fills in what every source leaves to us (uuids, names, state directory) and checks the whole.
bool CompleteMachine(MachineConfig* config, std::string* error);

// Changes when anything that the shared state depends on changes.
std::uint64_t Digest(const MachineConfig& config);

}  // namespace simgpu
