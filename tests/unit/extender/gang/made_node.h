// The cluster of tests that need no larger one.
#pragma once

#include "extender/cluster/world.h"

namespace crossover::extender {

// One node, n0, with GPU-a and GPU-b, of 80 GiB and two slots each.
inline void PutNode(World* world) {
  Node node;
  node.name = "n0";
  node.ready = true;
  GpuNode gpus;
  gpus.name = "n0";
  for (const char* uuid : {"GPU-a", "GPU-b"}) {
    GpuNode::Gpu gpu;
    gpu.uuid = uuid;
    gpu.slots = 2;
    gpu.healthy = true;
    gpu.memory = std::uint64_t{80} << 30;
    gpus.gpus.push_back(gpu);
  }
  world->Put(node);
  world->Put(gpus);
}

}  // namespace crossover::extender
