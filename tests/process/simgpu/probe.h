// Holds what the driver-API programs of these tests share.
#pragma once

#include <cuda.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

// Ends the program when a call does not return what it should.
inline void ExpectResult(CUresult expected, CUresult result, const char* file, int line, const char* call) {
  if (result == expected) return;
  const char* names[2] = {"?", "?"};
  cuGetErrorName(result, &names[0]);
  cuGetErrorName(expected, &names[1]);
  std::fprintf(stderr, "%s:%d: %s: %s, not %s\n", file, line, call, names[0], names[1]);
  std::exit(1);
}
#define EXPECT_RESULT(expected, call) ExpectResult(expected, call, __FILE__, __LINE__, #call)
#define OK(call) EXPECT_RESULT(CUDA_SUCCESS, call)
#define CHECK(condition)                                                         \
  do {                                                                           \
    if (condition) break;                                                        \
    std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
    std::exit(1);                                                                \
  } while (0)

inline long long Now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

constexpr char kImage[] =
    "// simgpu 1\n"
    "kernel timed ns=arg sms=132\n"
    "kernel ring ns=0 sms=4 spin\n";

// Makes the primary context of the first device current and loads a module into it.
struct Program {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUmodule module = nullptr;
  explicit Program(const char* image = kImage) {
    OK(cuInit(0));
    OK(cuDeviceGet(&device, 0));
    OK(cuDevicePrimaryCtxRetain(&context, device));
    OK(cuCtxSetCurrent(context));
    OK(cuModuleLoadData(&module, image));
  }
  CUfunction Function(const char* name) const {
    CUfunction function = nullptr;
    OK(cuModuleGetFunction(&function, module, name));
    return function;
  }
};

inline CUstream MakeStream() {
  CUstream stream = nullptr;
  OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

inline void Launch(CUfunction function, CUstream stream, void** parameters) {
  OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr));
}

inline void LaunchTimed(CUfunction timed, CUstream stream, unsigned long long ns) {
  void* parameters[] = {&ns};
  Launch(timed, stream, parameters);
}
