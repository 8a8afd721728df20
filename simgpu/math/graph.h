// Holds what programs tell cuDNN's graph API: descriptors, each a bag of attributes, and what a plan over
// them costs. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simgpu/math/cost.h"

namespace simgpu::math {

// cudnnBackendDescriptorType_t, the kinds that this library looks into.
enum class NodeKind : int {
  kEngine = 2,
  kEngineConfig = 3,
  kEngineHeuristics = 4,
  kPlan = 5,
  kConvolutionForward = 10,
  kConvolutionBackwardFilter = 11,
  kConvolutionBackwardData = 12,
  kGraph = 15,
  kVariantPack = 16,
  kTensor = 17,
  kProduct = 19,
};

// cudnnBackendAttributeName_t, the attributes that this library reads or answers.
enum class AttributeName : int {
  kHeuristicsGraph = 201,
  kHeuristicsResults = 202,
  kConfigEngine = 300,
  kConfigKnobChoices = 302,
  kConfigWorkspace = 303,
  kConfigSharedMemory = 304,
  kPlanConfig = 401,
  kPlanWorkspace = 402,
  kForwardW = 703,
  kForwardY = 705,
  kBackwardDataW = 709,
  kBackwardDataDy = 711,
  kBackwardFilterDw = 715,
  kBackwardFilterDy = 717,
  kGraphOperations = 801,
  kGraphEngineCount = 802,
  kTensorType = 901,
  kTensorDimensions = 902,
  kEngineGraph = 1300,
  kEngineIndex = 1301,
  kEngineKnobs = 1302,
  kEngineNumericalNotes = 1303,
  kEngineBehaviorNotes = 1305,
  kProductA = 1520,
  kProductC = 1522,
};

// cudnnBackendAttributeType_t, the types that this library makes itself.
enum class AttributeType : int { kInt64 = 3, kDescriptor = 15 };

// Returns the bytes of one element of an attribute type, 0 for an unknown one.
std::size_t BytesOfElement(int type);

// Returns the bytes of one element of a tensor (cudnnDataType_t); 4 for an unknown type.
std::size_t BytesOfData(int data_type);

// Returns the precision of products of such elements.
Precision PrecisionOfData(int data_type);

struct Node;
using NodePtr = std::shared_ptr<Node>;

// An Attribute holds its elements as bytes, or as nodes if they are descriptors.
struct Attribute {
  int type = 0;
  std::int64_t count = 0;
  std::vector<std::byte> bytes;
  std::vector<NodePtr> nodes;
};

// A Node is the content of a descriptor. Those that name it keep it alive, so that a plan outlives the
// descriptors that it was made from. Not thread-safe before it is final; constant after.
struct Node {
  explicit Node(int its_kind) : kind(its_kind) {}

  int kind;  // a NodeKind, or a kind that is only stored
  bool final = false;
  std::map<int, Attribute> attributes;

  // Returns an attribute, or null if it was not set.
  const Attribute* Find(AttributeName name) const;
  // Returns the first descriptor of an attribute, or null.
  NodePtr Child(AttributeName name) const;
  // Returns the elements of an attribute of 64-bit integers; empty if it was not set or is of another type.
  std::vector<std::int64_t> Integers(AttributeName name) const;
  // Sets attributes that this library makes.
  void Set(AttributeName name, NodePtr child);
  void Set(AttributeName name, std::int64_t value);
};

// Makes the one configuration of the one engine that runs `graph`.
NodePtr ConfigurationOf(const NodePtr& graph);

// Returns the graph that a plan runs, or null if the plan lacks a configuration, an engine or a graph.
NodePtr GraphOfPlan(const Node& plan);

// Returns the cost of all operations of a graph as one kernel on a GPU of `sms` SMs: convolutions and
// products by arithmetic, others by the bytes of their tensors.
Cost CostOfGraph(const Node& graph, int sms);

// Returns true if a convolution is among the operations of a graph.
bool HasConvolution(const Node& graph);

}  // namespace simgpu::math
