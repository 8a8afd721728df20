#include "benchmarks/driver/driver.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace crossover::bench {
namespace {

void* Symbol(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "libcuda.so.1 has no %s\n", name);
    std::exit(1);
  }
  return found;
}

Driver Load() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "no CUDA driver: %s\n", dlerror());
    std::exit(1);
  }
  Driver driver{};
#define DRIVER(name, symbol) driver.name = reinterpret_cast<decltype(&::symbol)>(Symbol(library, #symbol));
#include "benchmarks/driver/driver.def"
#undef DRIVER
  return driver;
}

}  // namespace

const Driver& Cuda() {
  static const Driver driver = Load();
  return driver;
}

const char* NameOf(CUresult result) {
  const char* name = nullptr;
  Cuda().cuGetErrorName(result, &name);
  return name == nullptr ? "unknown error" : name;
}

void Check(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, NameOf(result));
  std::exit(1);
}

}  // namespace crossover::bench
