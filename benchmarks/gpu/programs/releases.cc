// Tells whether a stream's write of a word waits for the kernel of another stream: streams may share a
// channel, and a release may wait for all earlier work of its channel.
#include <algorithm>
#include <cstdio>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

constexpr std::int64_t kPatienceNs = 200 * base::kNsPerMs;
constexpr std::uint64_t kWorkNs = 50'000;

// Has a word for each stream, one that starts the spin, and one that ends it.
class Releases {
 public:
  explicit Releases(std::int64_t streams) {
    for (std::int64_t i = 0; i < streams; ++i) streams_.push_back(gpu_.NewStream());
    streams_.push_back(CU_STREAM_LEGACY);
    for (const CUstream stream : streams_) gpu_.Work(stream, 1000);  // this gives each stream its channel
    for (const CUstream stream : streams_) gpu_.Synchronize(stream);
  }

  std::size_t streams() const { return streams_.size(); }

  // Lets a kernel spin on stream `spins` while every stream works and then writes its word. Returns for each
  // stream whether its word had not come when all that may run had run.
  std::vector<bool> Round(std::size_t spins) {
    ++round_;
    Write(streams_[spins], streams());
    gpu_.Spin(streams_[spins], At(streams() + 1), round_);
    while (base::LoadWord(&words_[streams()]) != round_) SleepNs(10'000);
    for (std::size_t i = 0; i < streams(); ++i) {
      gpu_.Work(streams_[i], kWorkNs);
      Write(streams_[i], i);
    }
    const std::vector<bool> late = Late(spins);
    base::StoreWord(&words_[streams() + 1], round_);
    base::FutexWakeAll(&words_[streams() + 1]);
    for (const CUstream stream : streams_) gpu_.Synchronize(stream);
    return late;
  }

 private:
  CUdeviceptr At(std::size_t word) const { return page_ + 4 * word; }

  void Write(CUstream stream, std::size_t word) {
    auto write = gates::WriteParams(At(word), round_);
    Enqueue(stream, &write, 1);
  }

  std::vector<bool> Late(std::size_t spins) const {
    const std::int64_t end = base::MonotonicNs() + kPatienceNs;
    std::vector<bool> late(streams());
    do {
      for (std::size_t i = 0; i < streams(); ++i) late[i] = base::LoadWord(&words_[i]) != round_;
      if (std::count(late.begin(), late.end(), true) == late[spins]) break;  // all but the one that spins
      SleepNs(100'000);
    } while (base::MonotonicNs() < end);
    return late;
  }

  RealGpu gpu_;
  std::vector<CUstream> streams_;
  std::uint32_t* words_ = static_cast<std::uint32_t*>(SharedMemory(4096));
  CUdeviceptr page_ = Register(words_, 4096);
  std::uint32_t round_ = 0;
};

}  // namespace

int AskReleases(Arguments arguments) {
  if (arguments.size() != 1) return RefuseArguments("releases", "STREAMS", arguments);
  Releases releases(Argument("STREAMS", arguments[0], 1, 256));
  const std::size_t streams = releases.streams(), legacy = streams - 1;
  int late = 0, own = 0, of_legacy = 0, behind_legacy = 0;
  for (std::size_t spins = 0; spins < streams; ++spins) {
    const std::vector<bool> seen = releases.Round(spins);
    own += seen[spins];  // known bad: what is behind the kernel itself must be late
    for (std::size_t i = 0; i < streams; ++i) {
      if (i == spins || !seen[i]) continue;
      ++late;
      of_legacy += i == legacy;
      behind_legacy += spins == legacy;
    }
  }
  std::printf(R"({"streams": %zu, "pairs": %zu, "late": %d, "late_of_legacy": %d, "late_behind_legacy": %d, )"
              R"("own_late": %d})"
              "\n",
              streams, streams * (streams - 1), late, of_legacy, behind_legacy, own);
  return 0;
}

}  // namespace crossover::bench
