// Uses a GPU without Crossover: it holds a context and some memory until it is killed.
//
//     gpu_user [DEVICE [crash [MIB]]]      crash: ends at once, as a program with a fault does
#include <cuda.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  CUdevice device = 0;
  CUcontext context = nullptr;
  CUdeviceptr memory = 0;
  const int number = argc > 1 ? std::atoi(argv[1]) : 0;
  const std::size_t mib = argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1;
  if (cuInit(0) != CUDA_SUCCESS || cuDeviceGet(&device, number) != CUDA_SUCCESS ||
      cuDevicePrimaryCtxRetain(&context, device) != CUDA_SUCCESS ||
      cuCtxSetCurrent(context) != CUDA_SUCCESS || cuMemAlloc(&memory, mib << 20) != CUDA_SUCCESS) {
    std::fprintf(stderr, "the driver refuses\n");
    return 1;
  }
  std::puts("on the GPU");
  std::fflush(stdout);
  // The first process of a container is immune to signals that it sends itself. The kernel sends this
  // fault's signal.
  if (argc > 2 && std::strcmp(argv[2], "crash") == 0) *static_cast<volatile int*>(nullptr) = 1;
  for (;;) pause();
}
