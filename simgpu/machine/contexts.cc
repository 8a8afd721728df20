// Counts the contexts that processes have on GPUs, and says whose contexts keep others out. A process that
// was killed has none: its entry of the table is freed with all that belongs to it.
#include <atomic>

#include "simgpu/machine/machine.h"
#include "simgpu/machine/state.h"

namespace simgpu {

void Machine::JoinMps() { std::atomic_ref(state_->clients[clients_.entry()].of_mps).store(1); }

// Returns true if a context of the process of `entry` keeps this process off a GPU that one process may have.
// All clients of MPS count as the one process of the server.
bool Machine::KeepsOut(int entry) const {
  SharedClient& other = state_->clients[entry];
  if (other.process == clients_.process()) return false;
  const bool both_of_mps = std::atomic_ref(other.of_mps).load() != 0 &&
                           std::atomic_ref(state_->clients[clients_.entry()].of_mps).load() != 0;
  return !both_of_mps;
}

bool Machine::AddContext(int gpu) {
  if (config_.compute_mode == ComputeMode::kProhibited) return false;
  SharedGpu* shared = Gpu(gpu);
  for (const bool last_chance : {false, true}) {
    if (last_chance) ReapDead(true);
    Lock(&shared->compute);
    bool free = true;
    for (int entry = 0; entry < kMaxClients && config_.compute_mode != ComputeMode::kDefault; ++entry) {
      if (shared->contexts[entry] != 0 && KeepsOut(entry)) free = false;
    }
    if (free) ++shared->contexts[clients_.entry()];
    Unlock(&shared->compute);
    if (free) return true;
  }
  return false;
}

void Machine::RemoveContext(int gpu) {
  SharedGpu* shared = Gpu(gpu);
  Lock(&shared->compute);
  --shared->contexts[clients_.entry()];
  Unlock(&shared->compute);
}

bool Machine::MpsHasKernels(int gpu) {
  ReapDead();
  SharedCapacity* compute = &Gpu(gpu)->compute;
  bool found = false;
  Lock(compute);
  for (int tenant = 0; tenant < Fluid::kTenants && !found; ++tenant) {
    if (!compute->fluid.Used(tenant) || !compute->fluid.Busy(tenant)) continue;
    const std::uint32_t token = compute->fluid.Group(tenant);
    SharedClient& client = state_->clients[token & 0xff];
    found = clients_.Listed(token) && client.process != clients_.process() &&
            std::atomic_ref(client.of_mps).load() != 0;
  }
  Unlock(compute);
  return found;
}

}  // namespace simgpu
