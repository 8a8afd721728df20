// Measures how long after a CPU has opened a gate the stream goes on that waits there: by the gate alone, or
// by a signal in device memory, which a process outside MPS writes as the signaller does.
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/driver/numbers.h"
#include "benchmarks/gpu/programs/kernels.h"
#include "benchmarks/gpu/programs/probes.h"
#include "benchmarks/gpu/programs/signal_words.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "deviceplugin/arbiter/page.h"
#include "deviceplugin/signaller/pages.h"
#include "sidecar/gates/gpu_gate.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

constexpr std::uint32_t kWarmUp = 5;  // rounds
constexpr turn::SlotIndex kSlot = 0;
constexpr std::int64_t kRoundNs =
    10 * base::kNsPerSecond;  // a stream that stands for longer ends the program

// Follows the page as the signaller does. Known bad: with `look_us` above 0 it hears no CPU, and looks that
// often.
void Follow(const arbiter::Page& page, std::int64_t look_us,
            const std::shared_ptr<signaller::SignalMemory>& memory, int socket) {
  std::string error;
  signaller::Pages pages;
  auto followed = signaller::FollowedPage::Map(page.fd(), &error);
  Require(followed != nullptr, "the page", error.c_str());
  const auto area = pages.Add(memory, std::move(followed), kArea, base::MonotonicNs(), &error);
  Require(area == kArea, "the page", error.c_str());
  while (!Closed(socket)) {
    Require(pages.Look(base::MonotonicNs(), &error), "a signal", error.c_str());
    if (look_us > 0) {
      SleepNs(look_us * base::kNsPerUs);
    } else {
      pages.Wait(base::MonotonicNs(), 20 * base::kNsPerMs);
    }
  }
}

// Takes `rounds` turns on a stream. Behind each acquisition the stream writes the number of the round to
// `passed`.
void TakeTurns(crossover_page* page, std::uint32_t* passed, const Maker* maker, std::uint32_t rounds) {
  const RealGpu gpu;
  const CUdeviceptr word = Register(passed, 4096);
  gates::GpuGate gate;
  Require(gate.SetUp(&GateDriver(), page, kSlot), "the gate", "the driver refuses it");
  if (maker != nullptr) gate.AwaitSignals(ImportLines(*maker));
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    Require(gate.Acquire(gpu.stream(), turn::FirstStretch(round)), "a turn", "the driver refuses it");
    auto write = gates::WriteParams(word, round);
    Enqueue(gpu.stream(), &write, 1);
    gpu.Synchronize(gpu.stream());
  }
  const bool awaited = gate.signals() == gates::GpuGate::Signals::kAwaited;
  Require(maker == nullptr || awaited, "signals", "the driver has refused operations on them");
}

// Waits until `*word` is `value`. Returns when it was.
std::int64_t Await(const std::uint32_t* word, std::uint32_t value) {
  const std::int64_t began = base::MonotonicNs();
  std::int64_t now = began;
  for (; base::LoadWord(word) != value; now = base::MonotonicNs()) {
    Require(now - began < kRoundNs && ::waitpid(-1, nullptr, WNOHANG) <= 0, "openings",
            "a process has ended");
    ::sched_yield();
  }
  return now;
}

std::vector<std::int64_t> Open(crossover_slot* slot, const std::uint32_t* passed, std::uint32_t rounds) {
  std::vector<std::int64_t> samples;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    const turn::TurnNumber k = turn::FirstStretch(round);
    Await(&slot->ready, k);
    // The signaller looks each millisecond. The opening falls anywhere between two looks.
    SleepNs((2000 + round * 617 % 1000) * base::kNsPerUs);
    const std::int64_t opened = base::MonotonicNs();
    base::StoreWord(&slot->gate, turn::OpenAny(k));
    base::FutexWakeAll(&slot->gate);
    const std::int64_t went_on = Await(passed, round);
    if (round > kWarmUp) samples.push_back(went_on - opened);
  }
  return samples;
}

}  // namespace

int Openings(Arguments arguments) {
  const std::string_view way = arguments.size() >= 2 ? arguments[1] : "";
  const bool alone = way == "gate" && arguments.size() == 2;
  const bool follows = way == "follow" && arguments.size() == 3;
  const bool looks = way == "look" && arguments.size() == 4;
  if (!alone && !follows && !looks)
    return RefuseArguments("openings", "ROUNDS gate|follow NO_MPS|look NO_MPS LOOK_US", arguments);
  const auto rounds = static_cast<std::uint32_t>(Argument("ROUNDS", arguments[0], kWarmUp + 1, 100'000));
  const std::int64_t look_us = looks ? Argument("LOOK_US", arguments[3], 1, 1'000'000) : 0;
  std::string error;
  const auto page = arbiter::Page::Create(&error);
  Require(page != nullptr, "the page", error.c_str());
  auto* passed = static_cast<std::uint32_t*>(SharedMemory(4096));
  Maker maker;
  if (!alone) {
    maker = StartMaker(arguments[2],
                       [&](const auto& memory, int socket) { Follow(*page, look_us, memory, socket); });
  }
  const pid_t client = ForkTied();
  if (client == 0) {
    TakeTurns(page->get(), passed, alone ? nullptr : &maker, rounds);
    std::exit(0);
  }
  const auto samples = Open(&page->slot(kSlot), passed, rounds);
  ::close(maker.socket);
  int status = 0;
  ::waitpid(client, &status, 0);
  if (maker.pid > 0) ::waitpid(maker.pid, nullptr, 0);
  if (status != 0) return 1;
  std::printf("{\"way\": \"%s\", \"opening_us\": %s}\n", arguments[1], SummaryUs(samples).c_str());
  return 0;
}

}  // namespace crossover::bench
