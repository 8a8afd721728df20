// Implements graphs as captures make them: their nodes, their instances, launches, and objects that they
// keep.
#include "simgpu/runtime/current.h"
#include "simgpu/runtime/export.h"

using namespace simgpu::runtime;

// Both interfaces number the kinds of nodes in the same way, and instantiate with the same structure.
static_assert(int{cudaGraphNodeTypeConditional} == int{CU_GRAPH_NODE_TYPE_CONDITIONAL});
static_assert(sizeof(cudaGraphInstantiateParams) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
static_assert(offsetof(cudaGraphInstantiateParams, result_out) ==
              offsetof(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out));

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  return WithContext([&](const Driver& driver) { return driver.cuGraphCreate(graph, flags); });
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  return WithContext([&](const Driver& driver) { return driver.cuGraphDestroy(graph); });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  return WithContext([&](const Driver& driver) { return driver.cuGraphClone(clone, graph); });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return WithContext([&](const Driver& driver) { return driver.cuGraphGetNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  return WithContext([&](const Driver& driver) { return driver.cuGraphGetRootNodes(graph, nodes, count); });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* edges, size_t* count) {
  return WithContext([&](const Driver& driver) {
    return driver.cuGraphGetEdges(graph, from, to, reinterpret_cast<CUgraphEdgeData*>(edges), count);
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  return WithContext([&](const Driver& driver) {
    if (type == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUgraphNodeType own{};
    const CUresult result = driver.cuGraphNodeGetType(node, &own);
    if (result == CUDA_SUCCESS) *type = static_cast<cudaGraphNodeType>(own);
    return result;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* dependencies,
                                         cudaGraphEdgeData* edges, size_t* count) {
  return WithContext([&](const Driver& driver) {
    return driver.cuGraphNodeGetDependencies(node, dependencies, reinterpret_cast<CUgraphEdgeData*>(edges),
                                             count);
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* dependents,
                                           cudaGraphEdgeData* edges, size_t* count) {
  return WithContext([&](const Driver& driver) {
    return driver.cuGraphNodeGetDependentNodes(node, dependents, reinterpret_cast<CUgraphEdgeData*>(edges),
                                               count);
  });
}

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned flags) {
  return WithContext([&](const Driver& driver) { return driver.cuGraphDebugDotPrint(graph, path, flags); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph,
                                          unsigned long long flags) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuGraphInstantiateWithFlags(exec, graph, flags); });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  return WithContext([&](const Driver& driver) { return driver.cuGraphExecDestroy(exec); });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long* flags) {
  return WithContext([&](const Driver& driver) {
    cuuint64_t own = 0;
    const CUresult result = driver.cuGraphExecGetFlags(exec, &own);
    if (result == CUDA_SUCCESS && flags != nullptr) *flags = own;
    return result;
  });
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return WithContext([&](const Driver& driver) {
    return driver.cuUserObjectCreate(object, pointer, destroy, references, flags);
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  return WithContext([&](const Driver& driver) { return driver.cuUserObjectRetain(object, count); });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  return WithContext([&](const Driver& driver) { return driver.cuUserObjectRelease(object, count); });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                                      unsigned flags) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuGraphRetainUserObject(graph, object, count, flags); });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  return WithContext(
      [&](const Driver& driver) { return driver.cuGraphReleaseUserObject(graph, object, count); });
}

}  // extern "C"

SIMGPU_RUNTIME_STREAM_CALL(cudaGraphInstantiateWithParams, _ptsz,
                           (cudaGraphExec_t * exec, cudaGraph_t graph,
                            cudaGraphInstantiateParams* parameters),
                           (exec, graph, parameters)) {
  return WithContext([&](const Driver& driver) {
    return (driver.*calls)
        .cuGraphInstantiateWithParams(exec, graph,
                                      reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS*>(parameters));
  });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaGraphLaunch, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
                           (exec, stream)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuGraphLaunch(exec, stream); });
}

SIMGPU_RUNTIME_STREAM_CALL(cudaGraphUpload, _ptsz, (cudaGraphExec_t exec, cudaStream_t stream),
                           (exec, stream)) {
  return WithContext([&](const Driver& driver) { return (driver.*calls).cuGraphUpload(exec, stream); });
}
