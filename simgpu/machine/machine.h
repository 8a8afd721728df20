// Presents the software machine to one process: its configuration, its node, and the state that it shares
// with every other process of the machine through one mapped file. That file works across PID, IPC, network
// and mount namespaces as long as its directory is the same.
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

// kOut is what leaves the node, kIn what enters it.
enum class Direction { kOut, kIn };

// A Machine is this process's connection to the software machine. Thread-safe.
class Machine {
 public:
  // Returns the machine. Attaches on the first call and stays attached for the life of the process. Returns
  // nullptr if the configuration or the state directory is unusable: error() then says why, and one line
  // has been printed to stderr.
  static Machine* Get();
  static const std::string& error();

  const MachineConfig& config() const { return config_; }
  int node() const { return node_; }  // from SIMGPU_NODE
  const NodeConfig& node_config() const { return config_.nodes[static_cast<std::size_t>(node_)]; }

  // Returns the number of a GPU in the whole machine, from a node and the GPU's place on it.
  int GlobalGpu(int node, int gpu) const;
  // Finds the node and the place of the GPU with this UUID. Returns false if no node has it.
  bool FindGpu(const std::string& uuid, int* node, int* gpu) const;

  // Opens a stream's share of a GPU of this node. All streams of this process together get at most `limit`
  // SMs at once. Returns nullptr if the GPU serves too many streams already. The caller owns the flow.
  std::unique_ptr<Flow> OpenGpu(int gpu, double limit = Fluid::kUnlimited);
  // Opens this node's link to other nodes in one direction. `communicator` distinguishes jobs if links are
  // private; shared links ignore it. Returns nullptr if the link has too many flows already.
  std::unique_ptr<Flow> OpenNodeLink(Direction direction, std::uint64_t communicator);
  // Opens the link of a GPU of this node to the other GPUs of the node, in the direction in which that GPU
  // sends.
  std::unique_ptr<Flow> OpenGpuLink(int gpu, std::uint64_t communicator);

  // Accounts for device memory of a GPU of this node. ChargeMemory() returns false, and charges nothing, if
  // `bytes` do not fit. ReturnMemory() gives back what was charged.
  bool ChargeMemory(int gpu, std::uint64_t bytes);
  void ReturnMemory(int gpu, std::uint64_t bytes);
  std::uint64_t UsedMemory(int gpu);
  // Returns the bytes of each process, by its ID in this process's PID namespace. Processes that cannot be
  // seen from there are left out.
  std::map<pid_t, std::uint64_t> UsedMemoryByProcess(int gpu);

  // Notes that this process is a client of MPS. REQUIRES: it has no context yet.
  void JoinMps();
  // Counts a context of this process on a GPU of this node. Returns false, and counts none, if the machine's
  // compute mode refuses it. RemoveContext() ends what AddContext() began. The contexts of a process that
  // dies end with it.
  bool AddContext(int gpu);
  void RemoveContext(int gpu);
  // Returns true while another process that is a client of MPS has kernels on the GPU.
  bool MpsHasKernels(int gpu);

  // BusyTime() returns the ns during which the GPU had anything to run. WorkTime() returns those of them in
  // which more than collectives ran.
  Nanos BusyTime(int gpu);
  Nanos WorkTime(int gpu);
  // Returns the ns during which bytes passed the link. If links are private, it is the sum over the
  // communicators whose entries are still in the table.
  Nanos NodeLinkTime(Direction direction);
  Nanos GpuLinkTime(int gpu);

  // Notes that a stream writes `value` to the word at `address` now. REQUIRES: the word lies in memory that
  // its readers map at the same place of a page.
  void NoteStore(std::uintptr_t address, std::uint32_t value);
  // Returns when `value` was last written there, or kNever if that is not known: 256 stores are kept.
  Nanos StoredAt(std::uintptr_t address, std::uint32_t value) const;

  // Removes the tenants and the memory of dead processes. Does nothing if any process did so within the
  // last 4 ms, unless `now` is set. Waiting threads call it.
  void ReapDead(bool now = false);

  // Returns the token that names this process on the machine, as long as this process lives; never 0.
  std::uint32_t token() const { return clients_.token(); }
  // Returns a number that is the same for all libraries of one process, and for no other process.
  std::uint64_t process() const { return clients_.process(); }

 private:
  friend class Flow;
  Machine() = default;
  bool Attach(std::string* error);
  bool MapState(int fd, std::string* error);
  void ResetState();
  std::unique_ptr<Flow> Open(SharedCapacity* capacity, double limit, double demand, double work_per_ns);
  Nanos LinkTime(std::uint32_t place);
  std::unique_ptr<Flow> OpenLink(std::uint32_t place, std::uint64_t communicator, double bytes_per_s);
  SharedGpu* Gpu(int gpu) const;
  void Lock(SharedCapacity* capacity);  // also advances its fluid to the present
  void Unlock(SharedCapacity* capacity);
  void RemoveDeadTenants(SharedCapacity* capacity);
  bool KeepsOut(int entry) const;

  MachineConfig config_;
  int node_ = 0;
  ClientTable clients_;
  SharedState* state_ = nullptr;
};

}  // namespace simgpu
