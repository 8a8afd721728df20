#include "tests/process/simgpu/runtime/program.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

// Runs as the kernel `add` of the image.
extern "C" __attribute__((visibility("default"))) void RuntimeTestAdd(void* const* arguments) {
  **static_cast<int**>(arguments[0]) += *static_cast<int*>(arguments[1]);
}

namespace simgpu::runtime_test {

const char kAdd = 0, kTimed = 0, kHold = 0, kLacking = 0;

namespace {

char image[] =
    "// simgpu 1\n"
    "kernel add ns=1000 sms=1 args=8,4 fn=RuntimeTestAdd\n"
    "kernel timed ns=arg sms=132\n"
    "kernel hold ns=0 sms=4 spin\n";

// Gives the process a machine of its own, before it first calls CUDA.
class Machine : public testing::Environment {
 public:
  void SetUp() override {
    const std::filesystem::path shared = "/dev/shm";
    const auto base = std::filesystem::exists(shared) ? shared : std::filesystem::temp_directory_path();
    directory_ = base / ("simgpu-runtime-test-" + std::to_string(getpid()));
    ::setenv("SIMGPU_MACHINE", ("1x2,state=" + directory_.string()).c_str(), 1);
    ::unsetenv("CUDA_VISIBLE_DEVICES");
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

 private:
  std::filesystem::path directory_;
};

const auto* const kMachine = testing::AddGlobalTestEnvironment(new Machine);

void Register(void** library, const char* host_function, const char* name) {
  __cudaRegisterFunction(library, host_function, const_cast<char*>(name), name, -1, nullptr, nullptr, nullptr,
                         nullptr, nullptr);
}

}  // namespace

Program::Program() : image_(__cudaRegisterFatBinary(image)) {
  Register(image_, &kAdd, "add");
  Register(image_, &kTimed, "timed");
  Register(image_, &kHold, "hold");
  Register(image_, &kLacking, "lacking");
  __cudaRegisterFatBinaryEnd(image_);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&sum_), sizeof *sum_), cudaSuccess);
  EXPECT_EQ(cudaMemset(sum_, 0, sizeof *sum_), cudaSuccess);
  EXPECT_EQ(cudaMallocHost(reinterpret_cast<void**>(&word_), sizeof *word_), cudaSuccess);
  *word_ = 0;
}

Program::~Program() {
  Release();
  EXPECT_EQ(cudaFree(sum_), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(word_), cudaSuccess);
  __cudaUnregisterFatBinary(image_);
  cudaGetLastError();
}

int Program::Sum() const {
  int sum = -1;
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(&sum, sum_, sizeof sum, cudaMemcpyDeviceToHost), cudaSuccess);
  return sum;
}

void Program::Hold(cudaStream_t stream) {
  unsigned value = 1;
  void* arguments[] = {&word_, &value};
  EXPECT_EQ(cudaLaunchKernel(&kHold, 1, 32, arguments, 0, stream), cudaSuccess);
}

void Program::Release() { __atomic_store_n(word_, 1, __ATOMIC_RELEASE); }

}  // namespace simgpu::runtime_test
