// Implements graphs, as far as stream capture needs them.
#include <algorithm>

#include "simgpu/cuda/capture.h"
#include "simgpu/cuda/context.h"
#include "simgpu/graphs/exec.h"

using namespace simgpu;

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  if (const CUresult ready = Ready(); ready != CUDA_SUCCESS) return ready;
  if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *graph = reinterpret_cast<CUgraph>(Handles<Graph>().Add(std::make_shared<Graph>()));
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  return Handles<Graph>().Remove(graph) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  const auto graph = Handles<Graph>().Find(handle);
  if (graph == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const std::size_t room = nodes == nullptr ? 0 : *count;
  for (std::size_t i = 0; i < room; ++i) {
    nodes[i] = i < graph->nodes.size() ? reinterpret_cast<CUgraphNode>(graph->nodes[i].get()) : nullptr;
  }
  *count = nodes == nullptr ? graph->nodes.size() : std::min(room, graph->nodes.size());
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  if (node == nullptr || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *type = reinterpret_cast<const GraphNode*>(node)->type;
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph handle, unsigned long long) {
  const auto graph = Handles<Graph>().Find(handle);
  if (graph == nullptr || exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *exec = reinterpret_cast<CUgraphExec>(Handles<GraphExec>().Add(std::make_shared<GraphExec>(*graph)));
  return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = cuGraphInstantiateWithFlags(exec, graph, parameters->flags);
  parameters->result_out =
      result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode*, char*, size_t) {
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  return Handles<GraphExec>().Remove(exec) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  StreamPtr stream;
  if (const CUresult error = FindStream(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  const auto exec = Handles<GraphExec>().Find(handle);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return LaunchGraph(stream, exec);
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  StreamPtr stream;
  if (const CUresult error = FindStream(stream_handle, &stream); error != CUDA_SUCCESS) return error;
  return Handles<GraphExec>().Find(handle) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream) {
  return cuGraphLaunch(exec, PerThread(stream));
}
CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream) {
  return cuGraphUpload(exec, PerThread(stream));
}
CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec* exec, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  return cuGraphInstantiateWithParams(exec, graph, parameters);
}

}  // extern "C"
