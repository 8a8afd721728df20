#include "benchmarks/handover/client.h"

#include <array>
#include <span>
#include <vector>

#include "benchmarks/driver/gpu.h"
#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"
#include "turn/ops.h"

// Implements the kernel `grant` of the text image: the software GPU calls this function by its name.
extern "C" void handover_grant(void* const* parameters) {
  auto* gate = *static_cast<std::uint32_t* const*>(parameters[0]);
  crossover::bench::StoreAndWake(gate, *static_cast<const std::uint32_t*>(parameters[1]));
}

namespace crossover::bench {
namespace {

constexpr const char* kImage =
    "// simgpu 1\n"
    "kernel work ns=arg sms=132\n"
    "kernel grant ns=1 sms=1 args=8,4 fn=handover_grant\n";

class Client {
 public:
  Client(SharedPage* shared, std::uint32_t self, const Options& options)
      : shared_(shared),
        self_(self),
        other_(1 - self),
        options_(options),
        gpu_(0, kImage),
        page_(Gpu::Register(&shared->page, sizeof shared->page)) {}

  void Run() {
    Announce();
    for (std::uint32_t turn = 1; turn <= options_.turns; ++turn) TakeTurn(turn);
    gpu_.Synchronize();
    __atomic_add_fetch(&shared_->done, 1, __ATOMIC_RELEASE);
  }

 private:
  // Waits until both clients are ready, so that neither runs alone.
  void Announce() {
    __atomic_add_fetch(&shared_->ready_clients, 1, __ATOMIC_RELEASE);
    while (base::LoadWord(&shared_->go) == 0) base::FutexWait(&shared_->go, 0, base::kNsPerMs);
  }

  void TakeTurn(std::uint32_t turn) {
    const turn::TurnNumber k = turn::FirstStretch(turn);
    // These are the operations that ship, in their order. Only the time stamp is between the wait and what
    // follows it.
    const auto acquire = turn::Acquire(self_, k);
    Enqueue(std::span(acquire).first(2));
    gpu_.Stamp(&shared_->times[self_].entered[turn]);
    Enqueue(std::span(acquire).last(2));
    auto nanoseconds = static_cast<std::uint64_t>(options_.hold_us * base::kNsPerUs);
    void* parameters[] = {&nanoseconds};
    gpu_.Launch(work_, parameters);
    gpu_.Stamp(&shared_->times[self_].left[turn]);
    Release(k);
  }

  void Release(turn::TurnNumber k) {
    const std::uint32_t open = turn::OpenAny(k);
    const auto release = turn::Release(self_, k, other_, open);
    std::uint32_t* gate = &shared_->page.slot[other_].gate;
    switch (options_.granter) {
      case Granter::kStream:
        return Enqueue(release);
      case Granter::kPoll:
        return Enqueue(std::span(release).last(1));
      case Granter::kKernel: {
        auto value = open;
        void* parameters[] = {&gate, &value};
        gpu_.Launch(grant_, parameters);
        return Enqueue(std::span(release).last(1));
      }
      case Granter::kCallback:
        Check(Cuda().cuLaunchHostFunc(gpu_.stream(), &Client::Grant, this), "cuLaunchHostFunc");
        return Enqueue(std::span(release).last(1));
      case Granter::kSynchronize:
        gpu_.Synchronize();
        return Enqueue(release);
    }
  }

  // Opens the gate of the other client. It is a host function: it runs only while the host of the process
  // runs.
  static void Grant(void* data) {
    auto* client = static_cast<Client*>(data);
    std::uint32_t* stopped = &client->shared_->host_stopped;
    while (base::LoadWord(stopped) != 0) base::FutexWait(stopped, 1, base::kNsPerSecond);
    const turn::TurnNumber k = client->shared_->page.slot[client->self_].hold;
    StoreAndWake(&client->shared_->page.slot[client->other_].gate, turn::OpenAny(k));
  }

  // Queues the operations as the library does, with a barrier in front of each wait.
  void Enqueue(std::span<const turn::Op> ops) {
    std::array<CUstreamBatchMemOpParams, 8> batch{};
    unsigned count = 0;
    for (const turn::Op& op : ops) {
      if (op.kind == turn::Op::Kind::kWaitGeq) batch[count++] = gates::BarrierParams();
      batch[count++] = Parameters(op);
    }
    Check(Cuda().cuStreamBatchMemOp(gpu_.stream(), count, batch.data(), 0), "cuStreamBatchMemOp");
  }

  CUstreamBatchMemOpParams Parameters(const turn::Op& op) const {
    const CUdeviceptr address = page_ + Offset(op);
    return op.kind == turn::Op::Kind::kWrite ? gates::WriteParams(address, op.value)
                                             : gates::WaitParams(address, op.value);
  }

  std::size_t Offset(const turn::Op& op) const {
    const crossover_slot& slot = shared_->page.slot[op.slot];
    const std::uint32_t* word = nullptr;
    switch (op.word) {
      case turn::Word::kReady:
        word = &slot.ready;
        break;
      case turn::Word::kHold:
        word = &slot.hold;
        break;
      case turn::Word::kRel:
        word = &slot.rel;
        break;
      case turn::Word::kGate:
        word = &slot.gate;
        break;
    }
    return static_cast<std::size_t>(reinterpret_cast<const char*>(word) -
                                    reinterpret_cast<const char*>(&shared_->page));
  }

  SharedPage* shared_;
  std::uint32_t self_, other_;
  Options options_;
  Gpu gpu_;
  CUdeviceptr page_;
  CUfunction work_ = gpu_.Kernel("work");
  CUfunction grant_ = gpu_.Kernel("grant");
};

}  // namespace

void StoreAndWake(std::uint32_t* word, std::uint32_t value) {
  base::StoreWord(word, value);
  base::FutexWakeAll(word);
}

void RunClient(SharedPage* shared, std::uint32_t self, const Options& options) {
  Client(shared, self, options).Run();
}

}  // namespace crossover::bench
