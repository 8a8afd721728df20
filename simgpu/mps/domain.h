// Computes which GPUs a fatal fault reaches under MPS. Pure.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace simgpu::mps {

using GpuSet = std::set<std::string>;  // UUIDs

// Returns the GPUs that a fatal fault on `gpu` reaches: that one, and all that are linked to one of them by a
// client that uses both. `used` has the GPUs of each client of the server.
GpuSet FaultDomain(const std::vector<GpuSet>& used, const std::string& gpu);

// Returns true if a client that uses the GPUs `used` uses one of `domain`.
bool Meets(const GpuSet& used, const GpuSet& domain);

}  // namespace simgpu::mps
