// Implements what a program asks about graphs: their first nodes, what a node depends on, and their memory.
#include <algorithm>

#include "simgpu/cuda/context.h"
#include "simgpu/cuda/graph.h"

using namespace simgpu;

namespace {

// Gives out nodes as CUDA's calls do. Without `room` it sets *count to their number. Else it copies as many
// as fit into `room`, fills the rest of `room` with null, and sets *count to how many it copied.
CUresult GiveNodes(const std::vector<GraphNode*>& nodes, CUgraphNode* room, size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (room != nullptr) {
    for (std::size_t i = 0; i < *count; ++i)
      room[i] = i < nodes.size() ? reinterpret_cast<CUgraphNode>(nodes[i]) : nullptr;
  }
  *count = room == nullptr ? nodes.size() : std::min(*count, nodes.size());
  return CUDA_SUCCESS;
}

CUresult CheckDevice(CUdevice device) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  return FindDevice(device) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

}  // namespace

extern "C" {

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  const auto graph = Handles<Graph>().Find(handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> roots;
  for (const auto& node : graph->nodes) {
    if (node->dependencies.empty()) roots.push_back(node.get());
  }
  return GiveNodes(roots, nodes, count);
}

// All edges are plain ones.
CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* dependencies, CUgraphEdgeData* edges,
                                       size_t* count) {
  if (node == nullptr || (edges != nullptr && dependencies == nullptr)) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result =
      GiveNodes(reinterpret_cast<const GraphNode*>(node)->dependencies, dependencies, count);
  if (result == CUDA_SUCCESS && edges != nullptr) std::fill_n(edges, *count, CUgraphEdgeData{});
  return result;
}

// Memory cannot be allocated in a capture, so graphs have none.
CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  if (const CUresult error = CheckDevice(device); error != CUDA_SUCCESS) return error;
  if (value == nullptr || attribute > CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH) return CUDA_ERROR_INVALID_VALUE;
  *static_cast<cuuint64_t*>(value) = 0;
  return CUDA_SUCCESS;
}

// The marks of the most memory may be set to 0, and nothing else.
CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void* value) {
  if (const CUresult error = CheckDevice(device); error != CUDA_SUCCESS) return error;
  const bool mark =
      attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
  return mark && value != nullptr && *static_cast<cuuint64_t*>(value) == 0 ? CUDA_SUCCESS
                                                                           : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuDeviceGraphMemTrim(CUdevice device) { return CheckDevice(device); }

}  // extern "C"
