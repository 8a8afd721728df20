// Tests captures and the graphs that they make.
#include <vector>

#include "tests/process/simgpu/runtime/program.h"

namespace simgpu::runtime_test {
namespace {

class Capture : public Program {
 protected:
  Capture() { EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess); }
  ~Capture() override { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }

  void LaunchAdd(int value) {
    Add([this](void** arguments) { OK(cudaLaunchKernel(&kAdd, 1, 32, arguments, 0, stream_)); }, value);
  }

  cudaStream_t stream_ = nullptr;
};

TEST_F(Capture, BecomesAGraphThatRunsWithTheValuesOfTheCapture) {
  OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  LaunchAdd(1);  // the first launch of the program: its image is loaded while the stream captures
  LaunchAdd(10);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  OK(cudaStreamIsCapturing(stream_, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusActive);
  unsigned long long id = 0;
  const cudaGraphNode_t* ends = nullptr;
  size_t count = 0;
  OK(cudaStreamGetCaptureInfo(stream_, &status, &id, nullptr, &ends, nullptr, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_NE(id, 0u);
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(stream_, &graph));
  OK(cudaStreamIsCapturing(stream_, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusNone);
  EXPECT_EQ(Sum(), 0);

  OK(cudaGraphGetNodes(graph, nullptr, &count));
  ASSERT_EQ(count, 2u);
  std::vector<cudaGraphNode_t> nodes(count);
  OK(cudaGraphGetNodes(graph, nodes.data(), &count));
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  OK(cudaGraphNodeGetType(nodes[0], &type));
  EXPECT_EQ(type, cudaGraphNodeTypeKernel);

  cudaGraphNode_t root = nullptr, before = nullptr;
  count = 1;
  OK(cudaGraphGetRootNodes(graph, &root, &count));
  EXPECT_EQ(root, nodes[0]);
  cudaGraphEdgeData edge{};
  OK(cudaGraphNodeGetDependencies(nodes[1], &before, &edge, &count));
  EXPECT_EQ(count, 1u);
  EXPECT_EQ(before, nodes[0]);
  OK(cudaGraphNodeGetDependencies(nodes[0], nullptr, nullptr, &count));
  EXPECT_EQ(count, 0u);

  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphDestroy(graph));
  OK(cudaGraphUpload(exec, stream_));
  for (int i = 1; i <= 3; ++i) {
    OK(cudaGraphLaunch(exec, stream_));
    EXPECT_EQ(Sum(), 11 * i);
  }
  OK(cudaGraphLaunch_ptsz(exec, nullptr));
  EXPECT_EQ(Sum(), 44);
  OK(cudaGraphExecDestroy(exec));
}

TEST_F(Capture, IsInstantiatedWithParameters) {
  OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
  LaunchAdd(4);
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(stream_, &graph));
  cudaGraphInstantiateParams parameters{};
  cudaGraphExec_t exec = nullptr;
  OK(cudaGraphInstantiateWithParams(&exec, graph, &parameters));
  EXPECT_EQ(parameters.result_out, cudaGraphInstantiateSuccess);
  OK(cudaGraphLaunch(exec, nullptr));
  EXPECT_EQ(Sum(), 4);
  OK(cudaGraphExecDestroy(exec));
  OK(cudaGraphDestroy(graph));
}

TEST_F(Capture, IsInvalidAfterAWaitAndTheErrorDoesNotStick) {
  OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
  LaunchAdd(1);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureUnsupported);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  OK(cudaStreamIsCapturing(stream_, &status));
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(cudaGetLastError(), cudaErrorStreamCaptureInvalidated);
  LaunchAdd(2);
  EXPECT_EQ(Sum(), 2);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(Capture, HasAModeOfTheThread) {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeGlobal);
  OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed));
  void* memory = nullptr;
  OK(cudaMalloc(&memory, 256));  // a relaxed capture does not forbid it
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture(stream_, &graph));
  OK(cudaGraphDestroy(graph));
  OK(cudaFree(memory));
  OK(cudaThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, cudaStreamCaptureModeRelaxed);
}

// The object goes with the last of the graph and its instances, or with the capture if that fails.
TEST_F(Capture, KeepsObjectsOfTheProgram) {
  int destroyed = 0;
  const auto destroy = [](void* count) { ++*static_cast<int*>(count); };
  for (const bool fails : {false, true}) {
    destroyed = 0;
    cudaUserObject_t object = nullptr;
    OK(cudaUserObjectCreate(&object, &destroyed, destroy, 1, cudaUserObjectNoDestructorSync));
    OK(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal));
    LaunchAdd(1);
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    OK(cudaStreamGetCaptureInfo(stream_, &status, nullptr, &graph, nullptr, nullptr, nullptr));
    OK(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    if (fails) {
      EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
      EXPECT_EQ(destroyed, 0);
      EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
    } else {
      OK(cudaStreamEndCapture(stream_, &graph));
      cudaGraphExec_t exec = nullptr;
      OK(cudaGraphInstantiate(&exec, graph, 0));
      OK(cudaGraphDestroy(graph));
      EXPECT_EQ(destroyed, 0);
      OK(cudaGraphExecDestroy(exec));
    }
    EXPECT_EQ(destroyed, 1);
    EXPECT_EQ(cudaUserObjectRetain(object, 1), cudaErrorInvalidValue);
  }
}

TEST_F(Capture, CountsReferencesToObjects) {
  int destroyed = 0;
  cudaUserObject_t object = nullptr;
  const auto destroy = [](void* count) { ++*static_cast<int*>(count); };
  EXPECT_EQ(cudaUserObjectCreate(&object, &destroyed, destroy, 1, 0), cudaErrorInvalidValue);
  OK(cudaUserObjectCreate(&object, &destroyed, destroy, 2, cudaUserObjectNoDestructorSync));
  OK(cudaUserObjectRetain(object, 1));
  EXPECT_EQ(cudaUserObjectRelease(object, 4), cudaErrorInvalidValue);
  cudaGraph_t graph = nullptr;
  OK(cudaGraphCreate(&graph, 0));
  OK(cudaGraphRetainUserObject(graph, object, 3, 0));
  EXPECT_EQ(cudaGraphReleaseUserObject(graph, object, 4), cudaErrorInvalidValue);
  OK(cudaGraphReleaseUserObject(graph, object, 1));
  OK(cudaUserObjectRelease(object, 3));
  EXPECT_EQ(destroyed, 0);
  OK(cudaGraphReleaseUserObject(graph, object, 2));
  EXPECT_EQ(destroyed, 1);
  OK(cudaGraphDestroy(graph));
}

TEST_F(Capture, HasNoMemoryOfItsOwn) {
  cuuint64_t bytes = 1;
  OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrReservedMemCurrent, &bytes));
  EXPECT_EQ(bytes, 0u);
  OK(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &bytes));
  EXPECT_EQ(cudaDeviceSetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes), cudaErrorInvalidValue);
  OK(cudaDeviceGraphMemTrim(0));
  EXPECT_EQ(cudaDeviceGraphMemTrim(5), cudaErrorInvalidDevice);
}

TEST_F(Capture, IsNotOfTheLegacyStream) {
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  EXPECT_EQ(cudaStreamBeginCapture_ptsz(nullptr, cudaStreamCaptureModeGlobal), cudaSuccess);
  cudaGraph_t graph = nullptr;
  OK(cudaStreamEndCapture_ptsz(nullptr, &graph));
  OK(cudaGraphDestroy(graph));
}

}  // namespace
}  // namespace simgpu::runtime_test
