// Asks for the name of a CUkernel as if it were a CUfunction, and launches it so. The library asks this of
// every kernel of a process until its first communicator, and the header does not say that it is allowed.
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"

namespace crossover::bench {
namespace {

template <typename Function>
Function Find(void* library, const char* name) {
  const auto found = reinterpret_cast<Function>(dlsym(library, name));
  if (found != nullptr) return found;
  std::fprintf(stderr, "the driver has no %s\n", name);
  std::exit(4);
}

// Prints the answer. A driver that does not take a CUkernel there may end the process.
void Ask() {
  const RealGpu gpu;
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  const auto load = Find<decltype(&::cuLibraryLoadData)>(library, "cuLibraryLoadData");
  const auto get = Find<decltype(&::cuLibraryGetKernel)>(library, "cuLibraryGetKernel");
  const auto name_of = Find<decltype(&::cuFuncGetName)>(library, "cuFuncGetName");
  CUlibrary code = nullptr;
  CUkernel kernel = nullptr;
  Check(load(&code, gpu.LoadedImage(), nullptr, nullptr, 0, nullptr, nullptr, 0), "cuLibraryLoadData");
  Check(get(&kernel, code, "null"), "cuLibraryGetKernel");
  const auto function = reinterpret_cast<CUfunction>(kernel);
  const char* name = nullptr;
  const CUresult asked = name_of(&name, function);
  Check(Cuda().cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, gpu.stream(), nullptr, nullptr),
        "launch of a CUkernel");
  gpu.Synchronize(gpu.stream());
  std::printf(R"({"asked": "%s", "name": "%s", "signal": 0})"
              "\n",
              NameOf(asked), asked == CUDA_SUCCESS && name != nullptr ? name : "");
}

}  // namespace

int Names(Arguments arguments) {
  if (!arguments.empty()) return RefuseArguments("names", "no arguments", arguments);
  const pid_t asks = ForkTied();
  if (asks == 0) {
    Ask();
    std::exit(0);
  }
  int status = 0;
  ::waitpid(asks, &status, 0);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  std::printf("{\"asked\": \"no answer\", \"name\": \"\", \"signal\": %d}\n", WTERMSIG(status));
  return 0;
}

}  // namespace crossover::bench
