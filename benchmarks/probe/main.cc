// Measures how exact the software GPU is: wall times of kernels that ask for a duration, and of shaped
// all-reduces.
//
//   probe kernel NS COUNT [SMS]               one JSON line; kernels ask for SMS SMs (default 1)
//   probe allreduce BYTES COUNT DIRECTORY     one JSON line per rank
//
// The environment sets RANK, WORLD_SIZE and LOCAL_RANK for all-reduces.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "benchmarks/driver/gpu.h"
#include "benchmarks/driver/numbers.h"
#include "benchmarks/probe/collective.h"
#include "common/base/clock.h"

namespace crossover::bench {
namespace {

std::int64_t FromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  return Argument(name, text == nullptr ? "" : text, 0, 4096);
}

std::vector<std::int64_t> TimeKernels(std::int64_t ns, int count, std::int64_t sms) {
  const std::string image = "// simgpu 1\nkernel work ns=arg sms=" + std::to_string(sms) + "\n";
  const Gpu gpu(0, image.c_str());
  const CUfunction work = gpu.Kernel("work");
  std::vector<std::int64_t> times;
  for (int i = 0; i < count; ++i) {
    auto asked = static_cast<std::uint64_t>(ns);
    void* parameters[] = {&asked};
    std::int64_t began = 0, ended = 0;
    gpu.Stamp(&began);
    gpu.Launch(work, parameters);
    gpu.Stamp(&ended);
    gpu.Synchronize();
    times.push_back(ended - began);
  }
  return times;
}

int Main(int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  if (what == "kernel" && (argc == 4 || argc == 5)) {
    const auto times = TimeKernels(Argument("NS", argv[2], 1, base::kNsPerSecond),
                                   static_cast<int>(Argument("COUNT", argv[3], 1, 100'000)),
                                   argc == 5 ? Argument("SMS", argv[4], 1, 1024) : 1);
    std::printf(R"({"asked_us": %.3f, "wall_us": %s})"
                "\n",
                std::atof(argv[2]) / 1e3, SummaryUs(times).c_str());
    return 0;
  }
  if (what == "allreduce" && argc == 5) {
    const Place place{static_cast<int>(FromEnvironment("RANK")),
                      static_cast<int>(FromEnvironment("WORLD_SIZE")), argv[4]};
    const auto bytes = static_cast<std::size_t>(Argument("BYTES", argv[2], 4, 1'000'000'000));
    const Gpu gpu(static_cast<int>(FromEnvironment("LOCAL_RANK")), "");
    const auto times =
        TimeAllReduces(gpu, place, bytes, static_cast<int>(Argument("COUNT", argv[3], 1, 100'000)));
    std::printf(R"({"rank": %d, "bytes": %zu, "wall_us": %s})"
                "\n",
                place.rank, bytes, SummaryUs(times).c_str());
    return 0;
  }
  return RefuseArguments("probe", "kernel NS COUNT [SMS], or allreduce BYTES COUNT DIRECTORY",
                         {argv + 1, static_cast<std::size_t>(argc - 1)});
}

}  // namespace
}  // namespace crossover::bench

int main(int argc, char** argv) { return crossover::bench::Main(argc, argv); }
