#include "simgpu/math/graph.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>

namespace simgpu::math {

namespace {

std::uint64_t Elements(const Node& tensor) {
  const std::vector<std::int64_t> sizes = tensor.Integers(AttributeName::kTensorDimensions);
  return std::accumulate(sizes.begin(), sizes.end(), std::uint64_t{1},
                         [](std::uint64_t product, std::int64_t size) {
                           return product * static_cast<std::uint64_t>(std::max<std::int64_t>(size, 0));
                         });
}

int DataType(const Node& tensor) {
  const Attribute* type = tensor.Find(AttributeName::kTensorType);
  int value = 0;
  if (type != nullptr && type->bytes.size() == sizeof(value))
    std::memcpy(&value, type->bytes.data(), sizeof(value));
  return value;
}

// The two tensors that say how much a convolution computes.
struct ConvolutionTensors {
  AttributeName filter;
  AttributeName result;
};

std::optional<ConvolutionTensors> TensorsOfConvolution(const Node& operation) {
  switch (static_cast<NodeKind>(operation.kind)) {
    case NodeKind::kConvolutionForward:
      return ConvolutionTensors{AttributeName::kForwardW, AttributeName::kForwardY};
    case NodeKind::kConvolutionBackwardData:
      return ConvolutionTensors{AttributeName::kBackwardDataW, AttributeName::kBackwardDataDy};
    case NodeKind::kConvolutionBackwardFilter:
      return ConvolutionTensors{AttributeName::kBackwardFilterDw, AttributeName::kBackwardFilterDy};
    default:
      return std::nullopt;
  }
}

// A convolution is the product of pixels x (channels of a group x window) by that x channels of the result.
std::optional<Cost> CostOfConvolution(const Node& operation, int sms) {
  const auto names = TensorsOfConvolution(operation);
  if (!names) return std::nullopt;
  const NodePtr filter = operation.Child(names->filter);
  const NodePtr result = operation.Child(names->result);
  if (filter == nullptr || result == nullptr) return std::nullopt;
  const std::vector<std::int64_t> sizes = filter->Integers(AttributeName::kTensorDimensions);
  const std::uint64_t channels =
      sizes.empty() ? 1 : static_cast<std::uint64_t>(std::max<std::int64_t>(sizes[0], 1));
  return CostOfProduct({Elements(*result) / channels, channels, Elements(*filter) / channels, 1},
                       PrecisionOfData(DataType(*filter)), sms);
}

// The sizes of a product end with rows and columns; all before them is the batch.
std::optional<Cost> CostOfProductNode(const Node& operation, int sms) {
  if (static_cast<NodeKind>(operation.kind) != NodeKind::kProduct) return std::nullopt;
  const NodePtr a = operation.Child(AttributeName::kProductA);
  const NodePtr c = operation.Child(AttributeName::kProductC);
  if (a == nullptr || c == nullptr) return std::nullopt;
  const std::vector<std::int64_t> left = a->Integers(AttributeName::kTensorDimensions);
  const std::vector<std::int64_t> result = c->Integers(AttributeName::kTensorDimensions);
  if (left.size() < 2 || result.size() < 2) return std::nullopt;
  const auto size = [](std::int64_t value) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
  };
  const std::uint64_t m = size(result[result.size() - 2]);
  const std::uint64_t n = size(result.back());
  const std::uint64_t batch = m * n == 0 ? 0 : Elements(*c) / (m * n);
  return CostOfProduct({m, n, size(left.back()), batch}, PrecisionOfData(DataType(*a)), sms);
}

Cost CostOfOther(const Node& operation, int sms) {
  std::uint64_t bytes = 0;
  for (const auto& [name, attribute] : operation.attributes) {
    for (const NodePtr& node : attribute.nodes) {
      if (static_cast<NodeKind>(node->kind) == NodeKind::kTensor)
        bytes += Elements(*node) * BytesOfData(DataType(*node));
    }
  }
  return CostOfTraffic(bytes, sms);
}

}  // namespace

std::size_t BytesOfElement(int type) {
  switch (type) {
    case 0:   // CUDNN_TYPE_HANDLE
    case 3:   // CUDNN_TYPE_INT64
    case 5:   // CUDNN_TYPE_DOUBLE
    case 6:   // CUDNN_TYPE_VOID_PTR
    case 15:  // CUDNN_TYPE_BACKEND_DESCRIPTOR
      return 8;
    case 2:   // CUDNN_TYPE_BOOLEAN
    case 24:  // CUDNN_TYPE_CHAR
      return 1;
    case 26:  // CUDNN_TYPE_FRACTION
      return 16;
    default:  // enumerations, CUDNN_TYPE_FLOAT and CUDNN_TYPE_INT32
      return type >= 0 && type <= 40 ? 4 : 0;
  }
}

std::size_t BytesOfData(int data_type) {
  switch (data_type) {
    case 1:   // CUDNN_DATA_DOUBLE
    case 10:  // CUDNN_DATA_INT64
      return 8;
    case 2:  // CUDNN_DATA_HALF
    case 9:  // CUDNN_DATA_BFLOAT16
      return 2;
    case 3:   // CUDNN_DATA_INT8
    case 6:   // CUDNN_DATA_UINT8
    case 11:  // CUDNN_DATA_BOOLEAN
    case 12:  // CUDNN_DATA_FP8_E4M3
    case 13:  // CUDNN_DATA_FP8_E5M2
      return 1;
    default:
      return 4;
  }
}

Precision PrecisionOfData(int data_type) {
  switch (BytesOfData(data_type)) {
    case 8:
      return Precision::kDouble;
    case 2:
      return Precision::kHalf;
    case 1:
      return Precision::kByte;
    default:
      return Precision::kTensorFloat;  // cuDNN's default for single precision
  }
}

const Attribute* Node::Find(AttributeName name) const {
  const auto found = attributes.find(static_cast<int>(name));
  return found != attributes.end() ? &found->second : nullptr;
}

NodePtr Node::Child(AttributeName name) const {
  const Attribute* attribute = Find(name);
  return attribute != nullptr && !attribute->nodes.empty() ? attribute->nodes.front() : nullptr;
}

std::vector<std::int64_t> Node::Integers(AttributeName name) const {
  const Attribute* attribute = Find(name);
  if (attribute == nullptr || attribute->type != static_cast<int>(AttributeType::kInt64)) return {};
  std::vector<std::int64_t> values(static_cast<std::size_t>(attribute->count));
  if (!values.empty()) std::memcpy(values.data(), attribute->bytes.data(), attribute->bytes.size());
  return values;
}

void Node::Set(AttributeName name, NodePtr child) {
  attributes[static_cast<int>(name)] = {
      static_cast<int>(AttributeType::kDescriptor), 1, {}, {std::move(child)}};
}

void Node::Set(AttributeName name, std::int64_t value) {
  std::vector<std::byte> bytes(sizeof(value));
  std::memcpy(bytes.data(), &value, sizeof(value));
  attributes[static_cast<int>(name)] = {static_cast<int>(AttributeType::kInt64), 1, std::move(bytes), {}};
}

NodePtr ConfigurationOf(const NodePtr& graph) {
  auto engine = std::make_shared<Node>(static_cast<int>(NodeKind::kEngine));
  engine->Set(AttributeName::kEngineGraph, graph);
  engine->Set(AttributeName::kEngineIndex, 0);
  engine->final = true;
  auto configuration = std::make_shared<Node>(static_cast<int>(NodeKind::kEngineConfig));
  configuration->Set(AttributeName::kConfigEngine, std::move(engine));
  configuration->Set(AttributeName::kConfigWorkspace, 0);
  configuration->Set(AttributeName::kConfigSharedMemory, 0);
  configuration->final = true;
  return configuration;
}

NodePtr GraphOfPlan(const Node& plan) {
  const NodePtr configuration = plan.Child(AttributeName::kPlanConfig);
  const NodePtr engine =
      configuration != nullptr ? configuration->Child(AttributeName::kConfigEngine) : nullptr;
  return engine != nullptr ? engine->Child(AttributeName::kEngineGraph) : nullptr;
}

Cost CostOfGraph(const Node& graph, int sms) {
  Cost sum;
  const Attribute* operations = graph.Find(AttributeName::kGraphOperations);
  if (operations == nullptr) return sum;
  for (const NodePtr& operation : operations->nodes) {
    auto cost = CostOfConvolution(*operation, sms);
    if (!cost) cost = CostOfProductNode(*operation, sms);
    if (!cost) cost = CostOfOther(*operation, sms);
    sum.ns += cost->ns;
    sum.sms = std::max(sum.sms, cost->sms);
  }
  return sum;
}

bool HasConvolution(const Node& graph) {
  const Attribute* operations = graph.Find(AttributeName::kGraphOperations);
  return operations != nullptr &&
         std::any_of(operations->nodes.begin(), operations->nodes.end(),
                     [](const NodePtr& node) { return TensorsOfConvolution(*node).has_value(); });
}

}  // namespace simgpu::math
