#include "benchmarks/probe/collective.h"

#include <dlfcn.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>

#include "simgpu/nccl/nccl.h"

namespace crossover::bench {
namespace {

void* Symbol(const char* name) {
  static void* const library = dlopen("libnccl.so.2", RTLD_NOW);
  void* found = library == nullptr ? nullptr : dlsym(library, name);
  if (found == nullptr) {
    std::fprintf(stderr, "no %s: %s\n", name, dlerror());
    std::exit(1);
  }
  return found;
}

#define NCCL_CALL(function) reinterpret_cast<decltype(&::function)>(Symbol(#function))

void CheckNccl(ncclResult_t result, const char* what) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, NCCL_CALL(ncclGetErrorString)(result));
  std::exit(1);
}

// Writes the file under another name first and then renames it, so a reader always sees the whole file.
void Publish(const std::string& path, const ncclUniqueId& id) {
  std::FILE* file = std::fopen((path + ".new").c_str(), "w");
  if (file == nullptr || std::fwrite(&id, sizeof id, 1, file) != 1 || std::fclose(file) != 0 ||
      std::rename((path + ".new").c_str(), path.c_str()) != 0) {
    std::perror(path.c_str());
    std::exit(1);
  }
}

ncclUniqueId Await(const std::string& path) {
  ncclUniqueId id{};
  const timespec pause{0, 5'000'000};
  for (int tries = 0; tries < 4000; ++tries) {
    if (std::FILE* file = std::fopen(path.c_str(), "r")) {
      const bool whole = std::fread(&id, sizeof id, 1, file) == 1;
      std::fclose(file);
      if (whole) return id;
    }
    ::nanosleep(&pause, nullptr);
  }
  std::fprintf(stderr, "%s: not there after 20 s\n", path.c_str());
  std::exit(1);
}

ncclComm_t Join(const Place& place) {
  const std::string path = place.directory + "/nccl-id";
  ncclUniqueId id{};
  if (place.rank == 0) {
    CheckNccl(NCCL_CALL(ncclGetUniqueId)(&id), "ncclGetUniqueId");
    Publish(path, id);
  } else {
    id = Await(path);
  }
  ncclComm_t comm = nullptr;
  CheckNccl(NCCL_CALL(ncclCommInitRank)(&comm, place.ranks, id, place.rank), "ncclCommInitRank");
  return comm;
}

}  // namespace

std::vector<std::int64_t> TimeAllReduces(const Gpu& gpu, const Place& place, std::size_t bytes, int count) {
  const ncclComm_t comm = Join(place);
  CUdeviceptr memory = 0;
  Check(Cuda().cuMemAlloc(&memory, bytes), "cuMemAlloc");
  void* data = reinterpret_cast<void*>(memory);
  const auto reduce = NCCL_CALL(ncclAllReduce);
  const auto all_reduce = [&](std::size_t part) {
    CheckNccl(reduce(data, data, part / sizeof(float), ncclFloat32, ncclSum, comm, gpu.stream()),
              "ncclAllReduce");
  };
  std::vector<std::int64_t> times;
  for (int i = 0; i < count; ++i) {
    // A small all-reduce makes all ranks start the measured one at the same time.
    all_reduce(sizeof(float) * static_cast<std::size_t>(place.ranks));
    std::int64_t began = 0, ended = 0;
    gpu.Stamp(&began);
    all_reduce(bytes);
    gpu.Stamp(&ended);
    gpu.Synchronize();
    times.push_back(ended - began);
  }
  CheckNccl(NCCL_CALL(ncclCommDestroy)(comm), "ncclCommDestroy");
  return times;
}

}  // namespace crossover::bench
