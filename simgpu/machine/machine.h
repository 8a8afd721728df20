// The software machine as one process sees it: its configuration, its node, and the state it shares with
// every other process of the machine through one mapped file. That file works across PID, IPC, network and
// mount namespaces as long as its directory is the same.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "simgpu/machine/clients.h"
#include "simgpu/machine/config.h"
#include "simgpu/machine/flow.h"

namespace simgpu {

struct SharedState;
struct SharedGpu;

enum class Direction { kOut, kIn };

class Machine {
 public:
  // Attaches on the first call and stays attached for the life of the process. nullptr when the configuration
  // or the state directory is unusable: error() says why, and one line was printed to stderr.
  static Machine* Get();
  static const std::string& error();

  const MachineConfig& config() const { return config_; }
  int node() const { return node_; }  // SIMGPU_NODE
  const NodeConfig& node_config() const { return config_.nodes[static_cast<std::size_t>(node_)]; }

  // Number of a GPU in the whole machine, from a node and the GPU's place on it.
  int GlobalGpu(int node, int gpu) const;
  // The node and place of the GPU with this uuid; false when no node has it.
  bool FindGpu(const std::string& uuid, int* node, int* gpu) const;

  // A stream's share of a GPU of this node. All streams of this process together get at most `limit` SMs at
  // once. nullptr when the GPU serves too many streams already.
  std::unique_ptr<Flow> OpenGpu(int gpu, double limit = Fluid::kUnlimited);
  // This node's link to other nodes in one direction. `communicator` tells jobs apart where links are
  // private; shared links ignore it. nullptr when the link has too many flows already.
  std::unique_ptr<Flow> OpenNodeLink(Direction direction, std::uint64_t communicator);
  // The link of a GPU of this node to its neighbours on the node, one direction: what that GPU sends.
  std::unique_ptr<Flow> OpenGpuLink(int gpu, std::uint64_t communicator);

  // Device memory of a GPU of this node. ChargeMemory refuses what does not fit.
  bool ChargeMemory(int gpu, std::uint64_t bytes);
  void ReturnMemory(int gpu, std::uint64_t bytes);
  std::uint64_t UsedMemory(int gpu);
  // By process, in this process's PID namespace; those that cannot be seen from it are left out.
  std::map<pid_t, std::uint64_t> UsedMemoryByProcess(int gpu);
  // ns during which the GPU had anything to run.
  Nanos BusyTime(int gpu);

  // Removes what dead processes left behind; at most once per 4 ms over all processes unless `now` is set.
  // Called by waiters.
  void ReapDead(bool now = false);

  // Names this process among all that the machine has seen; never 0.
  std::uint32_t token() const { return clients_.token(); }
  // The same for all libraries of one process, and for no other process.
  std::uint64_t process() const { return clients_.process(); }

 private:
  friend class Flow;
  Machine() = default;
  bool Attach(std::string* error);
  bool MapState(int fd, std::string* error);
  void ResetState();
  std::unique_ptr<Flow> Open(SharedCapacity* capacity, double limit, double demand, double work_per_ns);
  std::unique_ptr<Flow> OpenLink(std::uint32_t place, std::uint64_t communicator, double bytes_per_s);
  SharedGpu* Gpu(int gpu) const;
  void Lock(SharedCapacity* capacity);  // and brings it to the present
  void Unlock(SharedCapacity* capacity);
  void RemoveDeadTenants(SharedCapacity* capacity);

  MachineConfig config_;
  int node_ = 0;
  ClientTable clients_;
  SharedState* state_ = nullptr;
};

}  // namespace simgpu
