#include "benchmarks/gpu/programs/nccl.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace crossover::bench {
namespace {

template <typename Function>
void Find(void* library, Function& function, const char* name) {
  function = library == nullptr ? nullptr : reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return;
  std::fprintf(stderr, "no %s: %s\n", name, dlerror());
  std::exit(1);
}

Nccl Load() {
  void* library = dlopen("libnccl.so.2", RTLD_NOW);
  Nccl nccl{};
  Find(library, nccl.get_unique_id, "ncclGetUniqueId");
  Find(library, nccl.comm_init_rank, "ncclCommInitRank");
  Find(library, nccl.all_reduce, "ncclAllReduce");
  Find(library, nccl.comm_destroy, "ncclCommDestroy");
  Find(library, nccl.get_error_string, "ncclGetErrorString");
  Find(library, nccl.get_last_error, "ncclGetLastError");
  return nccl;
}

}  // namespace

const Nccl& TheNccl() {
  static const Nccl nccl = Load();
  return nccl;
}

void CheckNccl(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s: %s\n", what, TheNccl().get_error_string(result),
               TheNccl().get_last_error(nullptr));
  std::exit(1);
}

}  // namespace crossover::bench
