// Stands for a user's profiler plugin. It writes a line for each event to PROFILED.RANK.COMMUNICATOR;
// communicators are numbered in the order in which they are made.
#include "simgpu/nccl/profiler_plugin.h"

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

ncclResult_t Init(void** context, int* events, const char*, std::uint64_t, int nodes, int ranks, int rank,
                  void (*)(int, unsigned long, const char*, int, const char*, ...)) {
  static int made = 0;
  const char* path = std::getenv("PROFILED");
  if (path == nullptr) return ncclInvalidUsage;
  std::FILE* file = std::fopen(
      (std::string(path) + "." + std::to_string(rank) + "." + std::to_string(made++)).c_str(), "w");
  if (file == nullptr) return ncclSystemError;
  std::fprintf(file, "init %d %d %d\n", nodes, ranks, rank);
  *context = file;
  *events = kProfileGroup | kProfileCollective | kProfileTransfer;
  return ncclSuccess;
}

ncclResult_t Start(void* context, void** event, ProfilerDescription* description) {
  auto* file = static_cast<std::FILE*>(context);
  if (description->event == kProfileGroup) {
    std::fprintf(file, "group\n");
  } else if (description->event == kProfileCollective) {
    const ProfilerCollective& call = description->collective;
    std::fprintf(file, "start %lu %s %zu %s %d\n", static_cast<unsigned long>(call.number), call.function,
                 call.count, call.type, call.root);
  }
  *event = context;
  return ncclSuccess;
}

ncclResult_t Stop(void* event) {
  std::fprintf(static_cast<std::FILE*>(event), "stop\n");
  return ncclSuccess;
}

ncclResult_t Record(void*, int, void*) { return ncclSuccess; }

ncclResult_t Finalize(void* context) {
  auto* file = static_cast<std::FILE*>(context);
  std::fprintf(file, "finalize\n");
  std::fclose(file);
  return ncclSuccess;
}

}  // namespace

extern "C" __attribute__((visibility("default"))) ProfilerPlugin ncclProfiler_v4;
ProfilerPlugin ncclProfiler_v4 = {"test", &Init, &Start, &Stop, &Record, &Finalize};
