#include "simgpu/math/graph.h"

#include <gtest/gtest.h>

#include <cstring>

namespace simgpu::math {
namespace {

constexpr int kGraphSms = 132;
constexpr int kHalf = 2;
constexpr int kInt64 = static_cast<int>(AttributeType::kInt64);
constexpr int kDataType = 1;

Attribute Bytes(int type, std::int64_t count, const void* data) {
  const auto* bytes = static_cast<const std::byte*>(data);
  return {type, count, {bytes, bytes + static_cast<std::size_t>(count) * BytesOfElement(type)}, {}};
}

NodePtr Tensor(const std::vector<std::int64_t>& sizes, int data_type = kHalf) {
  auto tensor = std::make_shared<Node>(static_cast<int>(NodeKind::kTensor));
  tensor->attributes[static_cast<int>(AttributeName::kTensorDimensions)] =
      Bytes(kInt64, static_cast<std::int64_t>(sizes.size()), sizes.data());
  tensor->attributes[static_cast<int>(AttributeName::kTensorType)] = Bytes(kDataType, 1, &data_type);
  return tensor;
}

NodePtr Operation(NodeKind kind, AttributeName first, NodePtr a, AttributeName second, NodePtr b) {
  auto operation = std::make_shared<Node>(static_cast<int>(kind));
  operation->Set(first, std::move(a));
  operation->Set(second, std::move(b));
  return operation;
}

NodePtr Graph(std::vector<NodePtr> operations) {
  auto graph = std::make_shared<Node>(static_cast<int>(NodeKind::kGraph));
  const auto count = static_cast<std::int64_t>(operations.size());
  graph->attributes[static_cast<int>(AttributeName::kGraphOperations)] = {
      static_cast<int>(AttributeType::kDescriptor), count, {}, std::move(operations)};
  return graph;
}

NodePtr Convolution(NodeKind kind, AttributeName filter, AttributeName result) {
  return Operation(kind, filter, Tensor({64, 32, 3, 3}), result, Tensor({16, 64, 56, 56}));
}

TEST(Graph, EachDirectionOfAConvolutionCostsItsProduct) {
  const Cost expected = CostOfProduct({16 * 56 * 56, 64, 32 * 9, 1}, Precision::kHalf, kGraphSms);
  for (const NodePtr& operation :
       {Convolution(NodeKind::kConvolutionForward, AttributeName::kForwardW, AttributeName::kForwardY),
        Convolution(NodeKind::kConvolutionBackwardData, AttributeName::kBackwardDataW,
                    AttributeName::kBackwardDataDy),
        Convolution(NodeKind::kConvolutionBackwardFilter, AttributeName::kBackwardFilterDw,
                    AttributeName::kBackwardFilterDy)}) {
    const NodePtr graph = Graph({operation});
    EXPECT_TRUE(HasConvolution(*graph));
    EXPECT_EQ(CostOfGraph(*graph, kGraphSms).ns, expected.ns);
    EXPECT_EQ(CostOfGraph(*graph, kGraphSms).sms, expected.sms);
  }
}

TEST(Graph, AProductTakesItsBatchFromTheSizesInFront) {
  const NodePtr graph =
      Graph({Operation(NodeKind::kProduct, AttributeName::kProductA, Tensor({8, 12, 512, 64}),
                       AttributeName::kProductC, Tensor({8, 12, 512, 256}))});
  EXPECT_FALSE(HasConvolution(*graph));
  EXPECT_EQ(CostOfGraph(*graph, kGraphSms).ns,
            CostOfProduct({512, 256, 64, 96}, Precision::kHalf, kGraphSms).ns);
}

TEST(Graph, OtherOperationsCostTheBytesOfTheirTensors) {
  const auto kPointwise = static_cast<NodeKind>(13);
  const NodePtr graph = Graph({Operation(kPointwise, static_cast<AttributeName>(751), Tensor({1 << 20}),
                                         static_cast<AttributeName>(753), Tensor({1 << 20}, 0))});
  EXPECT_EQ(CostOfGraph(*graph, kGraphSms).ns, CostOfTraffic((1 << 20) * (2 + 4), kGraphSms).ns);
}

TEST(Graph, OperationsAddUp) {
  const NodePtr convolution =
      Convolution(NodeKind::kConvolutionForward, AttributeName::kForwardW, AttributeName::kForwardY);
  const std::uint64_t once = CostOfGraph(*Graph({convolution}), kGraphSms).ns;
  EXPECT_EQ(CostOfGraph(*Graph({convolution, convolution}), kGraphSms).ns, 2 * once);
}

TEST(Graph, SizesThatMakeNoSenseCostLittle) {
  const NodePtr graph = Graph({Operation(NodeKind::kConvolutionForward, AttributeName::kForwardW,
                                         Tensor({-5, 3}), AttributeName::kForwardY, Tensor({}))});
  EXPECT_LT(CostOfGraph(*graph, kGraphSms).ns, 10000U);
  EXPECT_EQ(CostOfGraph(Node(static_cast<int>(NodeKind::kGraph)), kGraphSms).ns, 0U);
}

TEST(Graph, APlanKeepsItsGraphAlive) {
  Node plan(static_cast<int>(NodeKind::kPlan));
  EXPECT_EQ(GraphOfPlan(plan), nullptr);
  std::weak_ptr<Node> graph;
  {
    const NodePtr made = Graph({});
    graph = made;
    plan.Set(AttributeName::kPlanConfig, ConfigurationOf(made));
  }
  EXPECT_FALSE(graph.expired());
  EXPECT_EQ(GraphOfPlan(plan), graph.lock());
}

TEST(Graph, IntegersAreReadFromIntegersAlone) {
  Node node(static_cast<int>(NodeKind::kEngine));
  node.Set(AttributeName::kEngineIndex, 7);
  EXPECT_EQ(node.Integers(AttributeName::kEngineIndex), std::vector<std::int64_t>{7});
  const double number = 7;
  node.attributes[static_cast<int>(AttributeName::kEngineIndex)] = Bytes(5, 1, &number);
  EXPECT_TRUE(node.Integers(AttributeName::kEngineIndex).empty());
}

}  // namespace
}  // namespace simgpu::math
