// Makes the cluster of tests that need no larger one.
#pragma once

#include <string>

#include "extender/cluster/cluster_cache.h"

namespace crossover::extender {

// Adds a node with GPU-a and GPU-b, of 80 GiB and two slots each.
inline void PutNode(ClusterCache* cache, const std::string& name = "n0", const std::string& zone = "") {
  Node node;
  node.name = name;
  node.ready = true;
  if (!zone.empty()) node.labels["topology.kubernetes.io/zone"] = zone;
  GpuNode gpus;
  gpus.name = name;
  for (const char* uuid : {"GPU-a", "GPU-b"}) {
    GpuNode::Gpu gpu;
    gpu.uuid = uuid;
    gpu.slots = 2;
    gpu.healthy = true;
    gpu.memory = std::uint64_t{80} << 30;
    gpus.gpus.push_back(gpu);
  }
  cache->Put(node);
  cache->Put(gpus);
}

}  // namespace crossover::extender
