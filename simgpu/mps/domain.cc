#include "simgpu/mps/domain.h"

#include <algorithm>

namespace simgpu::mps {

bool Meets(const GpuSet& used, const GpuSet& domain) {
  return std::any_of(used.begin(), used.end(),
                     [&](const std::string& gpu) { return domain.find(gpu) != domain.end(); });
}

GpuSet FaultDomain(const std::vector<GpuSet>& used, const std::string& gpu) {
  GpuSet domain = {gpu};
  for (std::size_t before = 0; before != domain.size();) {
    before = domain.size();
    for (const GpuSet& of_client : used) {
      if (Meets(of_client, domain)) domain.insert(of_client.begin(), of_client.end());
    }
  }
  return domain;
}

}  // namespace simgpu::mps
