// Counts how often a stream passes a gate that the host has shut, and the host does not see what the stream
// wrote before the gate. One of the two must see the other, or two clients hold a turn.
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

enum class Order { kPlain, kBarrier, kReversed };

// The words lie in cache lines of their own.
struct Words {
  alignas(128) std::uint32_t start;
  alignas(128) std::uint32_t ready;   // the stream writes it before the gate
  alignas(128) std::uint32_t gate;    // open from the round's number on
  alignas(128) std::uint32_t passed;  // the stream writes it behind the gate
};

struct Counts {
  std::int64_t rounds = 0, both = 0, shut_in_time = 0, forbidden = 0;
};

class Litmus {
 public:
  explicit Litmus(Order order) : order_(order) {}

  Counts Run(std::int64_t rounds, std::int64_t end_ns) {
    Counts counts;
    while (counts.rounds < rounds && base::MonotonicNs() < end_ns) {
      EnqueueRounds(static_cast<std::uint32_t>(counts.rounds) + 1);
      for (std::uint32_t i = 0; i < kAtOnce; ++i) {
        PlayRound(static_cast<std::uint32_t>(++counts.rounds), &counts);
      }
      gpu_.Synchronize(gpu_.stream());
    }
    return counts;
  }

 private:
  static constexpr std::uint32_t kAtOnce = 32;
  static constexpr std::uint32_t kMostDelay = 1 << 20;
  static constexpr std::int64_t kStillNs = 20'000;  // a stream that has not passed by then stands

  CUdeviceptr At(const std::uint32_t* word) const {
    return page_ + static_cast<CUdeviceptr>(reinterpret_cast<const char*>(word) -
                                            reinterpret_cast<const char*>(words_));
  }

  void EnqueueRounds(std::uint32_t first) {
    CUstreamBatchMemOpParams ops[5 * kAtOnce];
    unsigned count = 0;
    for (std::uint32_t round = first; round < first + kAtOnce; ++round) {
      ops[count++] = gates::WaitParams(At(&words_->start), round);
      if (order_ == Order::kReversed) ops[count++] = gates::WaitParams(At(&words_->gate), round);
      ops[count++] = gates::WriteParams(At(&words_->ready), round);
      if (order_ == Order::kBarrier) ops[count++] = gates::BarrierParams();
      if (order_ != Order::kReversed) ops[count++] = gates::WaitParams(At(&words_->gate), round);
      ops[count++] = gates::WriteParams(At(&words_->passed), round);
    }
    Enqueue(gpu_.stream(), ops, count);
  }

  // Opens the gate, starts the stream, and shuts the gate at a random moment near the one at which the stream
  // comes to it.
  void PlayRound(std::uint32_t round, Counts* counts) {
    Store(&words_->gate, round);
    base::StoreWord(&words_->start, round);
    const bool wakes_first = round % 2 == 0;  // the software GPU may run its stream within this call
    if (wakes_first) base::FutexWakeAll(&words_->start);
    random_ = random_ * 1664525u + 1013904223u;
    for (std::uint32_t left = (random_ >> 8) % (2 * delay_ + 1); left > 0; --left) __asm__ volatile("");
    __atomic_exchange_n(&words_->gate, round - 1, __ATOMIC_SEQ_CST);
    const bool seen = __atomic_load_n(&words_->ready, __ATOMIC_SEQ_CST) == round;
    if (!wakes_first) base::FutexWakeAll(&words_->start);
    while (order_ != Order::kReversed && base::LoadWord(&words_->ready) != round) continue;
    const bool passed = PassesInTime(round);
    counts->both += passed && seen;
    counts->shut_in_time += !passed;
    counts->forbidden += passed && !seen;
    delay_ = passed ? delay_ - delay_ / 16 : std::min(delay_ + delay_ / 16 + 1, kMostDelay);
    Store(&words_->gate, round);
    while (base::LoadWord(&words_->passed) != round) continue;
  }

  bool PassesInTime(std::uint32_t round) const {
    const std::int64_t end = base::MonotonicNs() + kStillNs;
    bool passed = false;
    while (!passed && base::MonotonicNs() < end) passed = base::LoadWord(&words_->passed) == round;
    return passed;
  }

  static void Store(std::uint32_t* word, std::uint32_t value) {
    base::StoreWord(word, value);
    base::FutexWakeAll(word);
  }

  RealGpu gpu_;
  Order order_;
  Words* words_ = static_cast<Words*>(SharedMemory(4096));
  CUdeviceptr page_ = Register(words_, 4096);
  std::uint32_t random_ = 1;
  std::uint32_t delay_ = 100;  // loops of the host before it shuts the gate, on average
};

}  // namespace

// Known bad: `reversed` waits at the gate before it writes.
int RunLitmus(Arguments arguments) {
  const std::string_view order = arguments.size() == 3 ? arguments[2] : "";
  if (order != "plain" && order != "barrier" && order != "reversed")
    return RefuseArguments("litmus", "ROUNDS SECONDS plain|barrier|reversed", arguments);
  const std::int64_t rounds = Argument("ROUNDS", arguments[0], 1, 1'000'000'000);
  const std::int64_t seconds = Argument("SECONDS", arguments[1], 1, 600);
  Litmus litmus(order == "plain" ? Order::kPlain : order == "barrier" ? Order::kBarrier : Order::kReversed);
  const Counts counts = litmus.Run(rounds, base::MonotonicNs() + seconds * base::kNsPerSecond);
  std::printf(R"({"rounds": %lld, "both": %lld, "shut_in_time": %lld, "forbidden": %lld})"
              "\n",
              static_cast<long long>(counts.rounds), static_cast<long long>(counts.both),
              static_cast<long long>(counts.shut_in_time), static_cast<long long>(counts.forbidden));
  return 0;
}

}  // namespace crossover::bench
