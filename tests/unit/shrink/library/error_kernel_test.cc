// Tests the measuring on a GPU beside a driver that stands in: what it asks of it, and what follows where it
// refuses.
#include "shrink/library/error_kernel.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

namespace crossover::shrink::library {
namespace {

// An Asked says what the driver does, and what it was asked.
struct Asked {
  CUresult load = CUDA_SUCCESS, find = CUDA_SUCCESS, map = CUDA_SUCCESS, launch = CUDA_SUCCESS;
  CUdevice device = 0;
  int launches = 0, unregistered = 0, unloaded = 0;
  CUstream stream = nullptr;
  std::uint64_t count = 0, key = 0, mark = 0;
};
Asked asked;

constexpr CUdeviceptr kOnDevice = 1 << 20;  // the GPU has the memory of the host at another address
char* registered = nullptr;

CUresult GetDevice(CUdevice* device) {
  *device = asked.device;
  return CUDA_SUCCESS;
}
CUresult Load(CUmodule* module, const void*) {
  *module = reinterpret_cast<CUmodule>(1);
  return asked.load;
}
CUresult Unload(CUmodule) {
  ++asked.unloaded;
  return CUDA_SUCCESS;
}
CUresult Find(CUfunction* function, CUmodule, const char* name) {
  EXPECT_STREQ(name, "crossover_shrink_error");
  *function = reinterpret_cast<CUfunction>(2);
  return asked.find;
}
CUresult Register(void* memory, std::size_t, unsigned) {
  registered = static_cast<char*>(memory);
  return asked.map;
}
CUresult Unregister(void*) {
  ++asked.unregistered;
  return CUDA_SUCCESS;
}
CUresult Map(CUdeviceptr* address, void*, unsigned) {
  *address = kOnDevice;
  return CUDA_SUCCESS;
}
CUresult Launch(CUfunction, unsigned blocks, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                unsigned, CUstream stream, void** parameters, void**) {
  EXPECT_EQ(blocks, kErrorBlocks);
  EXPECT_EQ(threads, kThreads);
  ++asked.launches;
  asked.stream = stream;
  CUdeviceptr at = 0;
  std::memcpy(&at, parameters[1], sizeof at);
  std::memcpy(&asked.count, parameters[2], sizeof asked.count);
  std::memcpy(&asked.key, parameters[3], sizeof asked.key);
  std::memcpy(&asked.mark, parameters[4], sizeof asked.mark);
  if (asked.launch != CUDA_SUCCESS) return asked.launch;
  auto* parts = reinterpret_cast<ErrorPart*>(registered + (at - kOnDevice));
  for (unsigned i = 0; i < kErrorBlocks; ++i) parts[i] = {{1, 0, 1, 0}, asked.mark};
  return CUDA_SUCCESS;
}

class ErrorKernelTest : public testing::Test {
 protected:
  ErrorKernelTest() {
    asked = {};
    driver_.CtxGetDevice = &GetDevice;
    driver_.ModuleLoadData = &Load;
    driver_.ModuleUnload = &Unload;
    driver_.ModuleGetFunction = &Find;
    driver_.MemHostRegister = &Register;
    driver_.MemHostUnregister = &Unregister;
    driver_.MemHostGetDevicePointer = &Map;
    driver_.LaunchKernel = &Launch;
  }

  std::string Refused(const Driver* driver, const void* image = "image", const char* reason = "") {
    ErrorKernel kernel;
    vote::Reason why;
    std::snprintf(why.text, sizeof why.text, "%s", reason);
    kernel.Make(driver, image, why);
    EXPECT_FALSE(kernel.is_ready());
    return kernel.why_not().text;
  }

  bool Measure(ErrorKernel& kernel, ErrorAccount& account, std::uint64_t call) {
    const std::uint64_t mark = account.Begin(call, [&] { return kernel.TakeParts(); });
    EXPECT_NE(mark, 0U);
    return kernel.Measure({&account, mark, 77, 512, reinterpret_cast<CUstream>(9)});
  }

  Driver driver_;
};

TEST_F(ErrorKernelTest, ASampleIsLaunchedOnTheStreamOfItsCall) {
  ErrorKernel kernel;
  kernel.Make(&driver_, "image", {});
  ASSERT_TRUE(kernel.is_ready());
  ErrorAccount first, second;
  EXPECT_TRUE(Measure(kernel, first, 1));
  EXPECT_TRUE(Measure(kernel, second, 1));
  EXPECT_TRUE(Measure(kernel, second, 2));
  EXPECT_EQ(asked.launches, 3);
  EXPECT_EQ(asked.stream, reinterpret_cast<CUstream>(9));
  EXPECT_EQ(asked.count, 512U);
  EXPECT_EQ(asked.mark, 2U);
  EXPECT_EQ(asked.key, KeyOf(DrawOfSample(2)));
  EXPECT_EQ(first.Read().samples, 1U);
  EXPECT_EQ(second.Read().samples, 2U);
  EXPECT_TRUE(kernel.why_not().empty());
}

TEST_F(ErrorKernelTest, WithoutADriverAnImageOrMemoryItSaysWhy) {
  EXPECT_EQ(Refused(nullptr), NoDriver().view());
  EXPECT_EQ(Refused(&driver_, nullptr, "why"), "why");
  asked.load = CUDA_ERROR_INVALID_PTX;
  EXPECT_EQ(Refused(&driver_),
            "image: expected crossover_shrink_error, which the driver loads, got error 218");
  asked = {};
  asked.find = CUDA_ERROR_NOT_FOUND;
  EXPECT_EQ(Refused(&driver_),
            "image: expected crossover_shrink_error, which the driver loads, got error 500");
  EXPECT_EQ(asked.unloaded, 1);
  asked = {};
  asked.map = CUDA_ERROR_NOT_SUPPORTED;
  EXPECT_EQ(Refused(&driver_), "memory of the host: expected the GPU to map it, got error 801");
}

TEST_F(ErrorKernelTest, ALaunchThatIsRefusedEndsTheSamples) {
  ErrorKernel kernel;
  kernel.Make(&driver_, "image", {});
  ErrorAccount account;
  EXPECT_TRUE(Measure(kernel, account, 1));
  asked.launch = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  EXPECT_FALSE(Measure(kernel, account, 2));
  EXPECT_FALSE(kernel.is_ready());
  EXPECT_STREQ(kernel.why_not().text, "launch: expected success, got error 701");
  EXPECT_FALSE(Measure(kernel, account, 2));
  EXPECT_EQ(asked.launches, 2);
  EXPECT_EQ(account.Read().samples, 1U);
  kernel.Make(&driver_, "image", {});
  EXPECT_FALSE(kernel.is_ready()) << "it is made once";
}

TEST_F(ErrorKernelTest, ACallOnAnotherGpuIsNoSample) {
  ErrorKernel kernel;
  kernel.Make(&driver_, "image", {});
  ErrorAccount account;
  asked.device = 1;
  EXPECT_FALSE(Measure(kernel, account, 1));
  EXPECT_EQ(asked.launches, 0);
  EXPECT_TRUE(kernel.is_ready());
  asked.device = 0;
  EXPECT_TRUE(Measure(kernel, account, 2));
}

TEST_F(ErrorKernelTest, OnlySoManyKindsHaveMemory) {
  ErrorKernel kernel;
  kernel.Make(&driver_, "image", {});
  for (std::size_t i = 0; i < kMostMeasured; ++i) EXPECT_NE(kernel.TakeParts(), nullptr);
  EXPECT_EQ(kernel.TakeParts(), nullptr);
  EXPECT_EQ(kernel.TakeParts(), nullptr);
}

}  // namespace
}  // namespace crossover::shrink::library
