#include "simgpu/machine/report.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "simgpu/machine/machine.h"

namespace simgpu {
namespace {

// Lateness is counted in whole us. The last bucket takes all that is later.
constexpr std::size_t kBuckets = 20001;

struct Histogram {
  std::array<std::atomic<std::uint32_t>, kBuckets> buckets;

  void Add(Nanos late) {
    const Nanos us = std::clamp<Nanos>(late / 1000, 0, static_cast<Nanos>(kBuckets) - 1);
    buckets[static_cast<std::size_t>(us)].fetch_add(1, std::memory_order_relaxed);
  }
  std::uint64_t Count() const {
    std::uint64_t count = 0;
    for (const auto& bucket : buckets) count += bucket.load(std::memory_order_relaxed);
    return count;
  }
  std::size_t Quantile(double q) const {
    const std::uint64_t count = Count();
    if (count == 0) return 0;
    const auto rank = static_cast<std::uint64_t>(q * static_cast<double>(count - 1));
    std::uint64_t below = 0;
    for (std::size_t us = 0; us < kBuckets; ++us) {
      below += buckets[us].load(std::memory_order_relaxed);
      if (below > rank) return us;
    }
    return kBuckets - 1;
  }
};

struct Totals {
  Histogram late[2];
  std::atomic<std::uint64_t> kernels;
  std::atomic<std::uint64_t> received[2];  // bytes, by Reach
  std::atomic<bool> registered;
  pid_t process;
};
constinit Totals totals{};

// Is read when the library is loaded: threads that stand in for hardware must not read the environment, which
// the program may change.
const bool kWanted = std::getenv("SIMGPU_REPORT") != nullptr;

// Registers the report to be written at exit, at the first value that is reported. Only this process writes
// it, not its forked children.
void Register() {
  if (totals.registered.exchange(true)) return;
  totals.process = getpid();
  std::atexit([] {
    if (getpid() == totals.process) WriteReport();
  });
}

double Seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

void PrintLateness(std::FILE* file, const char* name, const Histogram& late) {
  std::fprintf(file, "  \"%s\": {\"count\": %llu, \"p50\": %zu, \"p99\": %zu},\n", name,
               static_cast<unsigned long long>(late.Count()), late.Quantile(0.5), late.Quantile(0.99));
}

// Prints `time` of each GPU of the node.
void PrintTimes(std::FILE* file, const char* name, Machine* machine, Nanos (Machine::*time)(int)) {
  const auto& gpus = machine->node_config().gpus;
  std::fprintf(file, "  \"%s\": {", name);
  for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    std::fprintf(file, "%s\"%s\": %lld", gpu == 0 ? "" : ", ", gpus[gpu].uuid.c_str(),
                 static_cast<long long>((machine->*time)(static_cast<int>(gpu))));
  }
  std::fprintf(file, "},\n");
}

void PrintNodeLink(std::FILE* file, Machine* machine) {
  std::fprintf(file, "  \"node_link_ns\": {\"out\": %lld, \"in\": %lld},\n",
               static_cast<long long>(machine->NodeLinkTime(Direction::kOut)),
               static_cast<long long>(machine->NodeLinkTime(Direction::kIn)));
}

}  // namespace

void ReportLateness(Late kind, Nanos due, Nanos noticed) {
  if (!kWanted) return;
  Register();
  totals.late[static_cast<std::size_t>(kind)].Add(noticed - due);
}

void ReportKernel() {
  if (!kWanted) return;
  Register();
  totals.kernels.fetch_add(1, std::memory_order_relaxed);
}

void ReportReceived(Reach from, std::uint64_t bytes) {
  if (!kWanted) return;
  Register();
  totals.received[static_cast<std::size_t>(from)].fetch_add(bytes, std::memory_order_relaxed);
}

void WriteReport() {
  const char* directory = std::getenv("SIMGPU_REPORT");
  Machine* machine = Machine::Get();
  if (directory == nullptr || machine == nullptr) return;
  char path[4096];
  std::snprintf(path, sizeof path, "%s/%s-%d-%08x.json", directory, machine->node_config().name.c_str(),
                static_cast<int>(getpid()), std::random_device{}());
  std::FILE* file = std::fopen(path, "we");
  if (file == nullptr) {
    std::fprintf(stderr, "simgpu: SIMGPU_REPORT: cannot write '%s'\n", path);
    return;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::fprintf(file, "{\n  \"node\": \"%s\",\n  \"process\": \"%016llx\",\n  \"kernels\": %llu,\n",
               machine->node_config().name.c_str(), static_cast<unsigned long long>(machine->process()),
               static_cast<unsigned long long>(totals.kernels.load()));
  PrintLateness(file, "kernel_late_us", totals.late[0]);
  PrintLateness(file, "ring_step_late_us", totals.late[1]);
  PrintTimes(file, "busy_ns", machine, &Machine::BusyTime);
  PrintTimes(file, "work_ns", machine, &Machine::WorkTime);
  PrintTimes(file, "gpu_link_ns", machine, &Machine::GpuLinkTime);
  PrintNodeLink(file, machine);
  std::fprintf(file, "  \"received_bytes\": {\"same_node\": %llu, \"other_nodes\": %llu},\n",
               static_cast<unsigned long long>(totals.received[0].load()),
               static_cast<unsigned long long>(totals.received[1].load()));
  std::fprintf(file, "  \"cpu_s\": %.6f\n}\n", Seconds(usage.ru_utime) + Seconds(usage.ru_stime));
  std::fclose(file);
}

}  // namespace simgpu
