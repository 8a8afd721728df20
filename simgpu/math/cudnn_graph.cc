// Implements cuDNN's graph API (cudnnBackend*). One engine runs every graph; a plan is one kernel.
#include <cstdio>
#include <cstring>
#include <new>

#include "simgpu/math/cudnn.h"
#include "simgpu/math/export.h"
#include "simgpu/math/graph.h"
#include "simgpu/math/launch.h"
#include "simgpu/stand_ins/refuse.h"

using namespace simgpu::math;

namespace {

// A Descriptor is what cudnnBackendDescriptor_t points to. Its node may be shared with others.
struct Descriptor {
  NodePtr node;
};

// Returns true for attributes of which this library's one engine has none.
bool IsEmptyByNature(int name) {
  switch (static_cast<AttributeName>(name)) {
    case AttributeName::kConfigKnobChoices:
    case AttributeName::kEngineKnobs:
    case AttributeName::kEngineNumericalNotes:
    case AttributeName::kEngineBehaviorNotes:
      return true;
    default:
      return false;
  }
}

// Makes what this library answers and programs do not set. Runs when the descriptor becomes final.
CudnnStatus Complete(Node* node) {
  switch (static_cast<NodeKind>(node->kind)) {
    case NodeKind::kGraph:
      if (node->Child(AttributeName::kGraphOperations) == nullptr) return kCudnnBadParam;
      node->Set(AttributeName::kGraphEngineCount, 1);
      return kCudnnSuccess;
    case NodeKind::kEngineHeuristics: {
      const NodePtr graph = node->Child(AttributeName::kHeuristicsGraph);
      if (graph == nullptr) return kCudnnBadParam;
      node->Set(AttributeName::kHeuristicsResults, ConfigurationOf(graph));
      return kCudnnSuccess;
    }
    case NodeKind::kPlan:
      if (GraphOfPlan(*node) == nullptr) return kCudnnBadParam;
      node->Set(AttributeName::kPlanWorkspace, 0);
      return kCudnnSuccess;
    default:
      return kCudnnSuccess;
  }
}

// Copies up to `wanted` elements of an attribute to the caller. Descriptors of the caller take the nodes.
CudnnStatus Give(const Attribute& attribute, std::int64_t wanted, void* elements) {
  const std::int64_t count = wanted < attribute.count ? wanted : attribute.count;
  if (count == 0 || elements == nullptr) return kCudnnSuccess;
  if (attribute.nodes.empty()) {
    std::memcpy(elements, attribute.bytes.data(),
                static_cast<std::size_t>(count) * BytesOfElement(attribute.type));
    return kCudnnSuccess;
  }
  auto** descriptors = static_cast<Descriptor**>(elements);
  for (std::int64_t i = 0; i < count; ++i) {
    if (descriptors[i] == nullptr) return kCudnnBadParam;
    descriptors[i]->node = attribute.nodes[static_cast<std::size_t>(i)];
  }
  return kCudnnSuccess;
}

CudnnStatus RefuseAttribute(const Node& node, int name) {
  char reason[96];
  std::snprintf(reason, sizeof reason, "attribute %d of a descriptor of kind %d was not set", name,
                node.kind);
  simgpu_refuse(kCudnnLibrary, "cudnnBackendGetAttribute", reason);
  return kCudnnNotSupported;
}

}  // namespace

SIMGPU_MATH_CALL int cudnnBackendCreateDescriptor(int kind, Descriptor** descriptor) {
  if (descriptor == nullptr || kind < 0) return kCudnnBadParam;
  *descriptor = new (std::nothrow) Descriptor{std::make_shared<Node>(kind)};
  return *descriptor != nullptr ? kCudnnSuccess : kCudnnAllocationFailed;
}

SIMGPU_MATH_CALL int cudnnBackendDestroyDescriptor(Descriptor* descriptor) {
  delete descriptor;
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnBackendSetAttribute(Descriptor* descriptor, int name, int type, std::int64_t count,
                                              const void* elements) {
  if (descriptor == nullptr || count < 0 || (elements == nullptr && count > 0)) return kCudnnBadParam;
  const std::size_t size = BytesOfElement(type);
  if (size == 0 || descriptor->node->final) return kCudnnBadParam;
  Attribute attribute{type, count, {}, {}};
  if (type == static_cast<int>(AttributeType::kDescriptor)) {
    const auto* const* children = static_cast<const Descriptor* const*>(elements);
    for (std::int64_t i = 0; i < count; ++i) {
      if (children[i] == nullptr || !children[i]->node->final) return kCudnnBadParam;
      attribute.nodes.push_back(children[i]->node);
    }
  } else {
    const auto* bytes = static_cast<const std::byte*>(elements);
    attribute.bytes.assign(bytes, bytes + static_cast<std::size_t>(count) * size);
  }
  descriptor->node->attributes[name] = std::move(attribute);
  return kCudnnSuccess;
}

SIMGPU_MATH_CALL int cudnnBackendFinalize(Descriptor* descriptor) {
  if (descriptor == nullptr) return kCudnnBadParam;
  const CudnnStatus status = Complete(descriptor->node.get());
  if (status == kCudnnSuccess) descriptor->node->final = true;
  return status;
}

SIMGPU_MATH_CALL int cudnnBackendGetAttribute(const Descriptor* descriptor, int name, int type,
                                              std::int64_t wanted, std::int64_t* count, void* elements) {
  if (descriptor == nullptr || wanted < 0 || !descriptor->node->final) return kCudnnBadParam;
  const Attribute* attribute = descriptor->node->Find(static_cast<AttributeName>(name));
  if (attribute == nullptr && !IsEmptyByNature(name)) return RefuseAttribute(*descriptor->node, name);
  if (count != nullptr) *count = attribute != nullptr ? attribute->count : 0;
  if (attribute == nullptr) return kCudnnSuccess;
  return attribute->type == type ? Give(*attribute, wanted, elements) : kCudnnBadParam;
}

SIMGPU_MATH_CALL int cudnnBackendExecute(const CudnnHandle* handle, const Descriptor* plan,
                                         const Descriptor* pack) {
  if (handle == nullptr) return kCudnnNotInitialized;
  if (plan == nullptr || pack == nullptr || !plan->node->final || !pack->node->final) return kCudnnBadParam;
  if (static_cast<NodeKind>(pack->node->kind) != NodeKind::kVariantPack) return kCudnnBadParam;
  const NodePtr graph = GraphOfPlan(*plan->node);
  if (graph == nullptr) return kCudnnBadParam;
  const KernelName name = HasConvolution(*graph) ? KernelName::kConv : KernelName::kNorm;
  return Launch(name, CostOfGraph(*graph, SmsHere()), handle->stream) ? kCudnnSuccess : kCudnnExecutionFailed;
}
