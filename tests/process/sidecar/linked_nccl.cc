// A program with NCCL linked into it, which can also open another NCCL as a library.
//
//   sidecar_linked_nccl linked|loaded|linked-first|loaded-first FILE RANK   one of two ranks, one GPU each
//   sidecar_linked_nccl several-gpus|several-gpus-loaded                    both ranks here, made together
//   sidecar_linked_nccl several-gpus-one-by-one|several-gpus-threads        each rank made by itself
//
// It sums 1 and 2 over the ranks with each NCCL, and prints "linked SUM" and "loaded SUM". Rank 0 leaves
// the unique ids in FILE.
#include <cuda.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "simgpu/nccl/nccl.h"
#include "tests/process/sidecar/rendezvous.h"
#include "tests/process/use_device.h"

namespace {

constexpr int kRanks = 2;

// Holds the functions that are called, of either NCCL.
struct Nccl {
  const char* name;
  decltype(&ncclGetUniqueId) get_unique_id;
  decltype(&ncclCommInitRank) comm_init_rank;
  decltype(&ncclAllReduce) all_reduce;
  decltype(&ncclCommDestroy) comm_destroy;
  decltype(&ncclCommInitAll) comm_init_all;
  decltype(&ncclGroupStart) group_start;
  decltype(&ncclGroupEnd) group_end;
};

constexpr Nccl kLinked = {"linked",         &ncclGetUniqueId, &ncclCommInitRank, &ncclAllReduce,
                          &ncclCommDestroy, &ncclCommInitAll, &ncclGroupStart,   &ncclGroupEnd};

template <typename Function>
void LookUp(void* library, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  Must(*function == nullptr ? 1 : 0, name);
}

Nccl Load() {
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  Must(library == nullptr ? 1 : 0, "dlopen libnccl.so.2");
  Nccl nccl{"loaded", nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
  LookUp(library, "ncclGetUniqueId", &nccl.get_unique_id);
  LookUp(library, "ncclCommInitRank", &nccl.comm_init_rank);
  LookUp(library, "ncclAllReduce", &nccl.all_reduce);
  LookUp(library, "ncclCommDestroy", &nccl.comm_destroy);
  LookUp(library, "ncclCommInitAll", &nccl.comm_init_all);
  LookUp(library, "ncclGroupStart", &nccl.group_start);
  LookUp(library, "ncclGroupEnd", &nccl.group_end);
  return nccl;
}

struct Sum {
  CUstream stream = nullptr;
  CUdeviceptr value = 0;

  explicit Sum(int rank) {
    const int mine = rank + 1;
    MUST(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    MUST(cuMemAlloc(&value, sizeof mine));
    MUST(cuMemcpyHtoD(value, &mine, sizeof mine));
  }
  int* address() const { return reinterpret_cast<int*>(value); }
  void Print(const char* name) const {
    int sum = 0;
    MUST(cuStreamSynchronize(stream));
    MUST(cuMemcpyDtoH(&sum, value, sizeof sum));
    std::printf("%s %d\n", name, sum);
  }
};

void AddUp(const Nccl& nccl, const std::string& path, int rank) {
  const ncclUniqueId id = Share(nccl.get_unique_id, path + "." + nccl.name, rank);
  ncclComm_t comm = nullptr;
  MUST(nccl.comm_init_rank(&comm, kRanks, id, rank));
  const Sum sum(rank);
  MUST(nccl.all_reduce(sum.address(), sum.address(), 1, ncclInt32, ncclSum, comm, sum.stream));
  sum.Print(nccl.name);
  MUST(nccl.comm_destroy(comm));
}

using Comms = ncclComm_t[kRanks];

void MakeOneByOne(const Nccl& nccl, Comms& comms) {
  ncclUniqueId id{};
  MUST(nccl.get_unique_id(&id));
  MUST(nccl.group_start());
  for (int rank = 0; rank < kRanks; ++rank) {
    MUST(UseDevice(rank));
    MUST(nccl.comm_init_rank(&comms[rank], kRanks, id, rank));
  }
  MUST(nccl.group_end());
}

void MakeInThreads(const Nccl& nccl, Comms& comms) {
  ncclUniqueId id{};
  MUST(nccl.get_unique_id(&id));
  const auto make = [&](int rank) {
    MUST(UseDevice(rank));
    MUST(nccl.comm_init_rank(&comms[rank], kRanks, id, rank));
  };
  std::thread second(make, 1);
  make(0);
  second.join();
}

// Starts the collectives of both GPUs from one thread, whose current GPU is the second.
void AddUpOnTwoGpus(const Nccl& nccl, const Comms& comms) {
  MUST(UseDevice(0));
  const Sum first(0);
  MUST(UseDevice(1));
  const Sum second(1);
  MUST(nccl.group_start());
  MUST(nccl.all_reduce(first.address(), first.address(), 1, ncclInt32, ncclSum, comms[0], first.stream));
  MUST(nccl.all_reduce(second.address(), second.address(), 1, ncclInt32, ncclSum, comms[1], second.stream));
  MUST(nccl.group_end());
  second.Print(nccl.name);
  MUST(UseDevice(0));
  first.Print(nccl.name);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string scenario = argc > 1 ? argv[1] : "";
  MUST(cuInit(0));
  if (scenario.rfind("several-gpus", 0) == 0) {
    const Nccl nccl = scenario == "several-gpus" ? kLinked : Load();
    ncclComm_t comms[kRanks];
    if (scenario == "several-gpus-one-by-one") {
      MakeOneByOne(nccl, comms);
    } else if (scenario == "several-gpus-threads") {
      MakeInThreads(nccl, comms);
    } else {
      MUST(nccl.comm_init_all(comms, kRanks, nullptr));
    }
    AddUpOnTwoGpus(nccl, comms);
    return 0;
  }
  if (argc != 4) return 2;
  const int rank = std::atoi(argv[3]);
  MUST(UseDevice(rank));
  if (scenario == "linked" || scenario == "linked-first") AddUp(kLinked, argv[2], rank);
  if (scenario != "linked") {
    const Nccl loaded = Load();
    if (scenario == "loaded-first") AddUp(loaded, argv[2], rank), AddUp(kLinked, argv[2], rank);
    if (scenario != "loaded-first") AddUp(loaded, argv[2], rank);
  }
  return 0;
}
