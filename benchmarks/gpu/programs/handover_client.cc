#include "benchmarks/gpu/programs/handover_client.h"

#include "common/base/futex.h"
#include "sidecar/gates/memory_operations.h"

namespace crossover::bench {
namespace {

class HandoverClient {
 public:
  HandoverClient(HandoverPage* page, int client, int socket, const HandoverOptions& options)
      : page_(page),
        client_(client),
        options_(options),
        on_device_(Register(page, sizeof *page)),
        words_(SharedWords(options.home, client, socket, page->words, on_device_, gpu_.device())) {}

  void Run() {
    gpu_.Work(gpu_.stream(), 1000);
    gpu_.Stamp(gpu_.stream(), At(&page_->left[Self()][0]));  // the first launch of a kernel loads it
    gpu_.Synchronize(gpu_.stream());
    __atomic_add_fetch(&page_->ready, 1, __ATOMIC_RELEASE);
    while (base::LoadWord(&page_->go) == 0) base::FutexWait(&page_->go, 0, 1'000'000);
    for (std::uint32_t turn = 1; turn <= options_.turns; ++turn) TakeTurn(turn);
    gpu_.Synchronize(gpu_.stream());
  }

 private:
  std::size_t Self() const { return static_cast<std::size_t>(client_); }

  void TakeTurn(std::uint32_t turn) {
    const std::uint32_t due = client_ == 0 ? turn - 1 : turn;
    if (options_.host_gates) {
      AwaitOnHost(due);
    } else {
      auto wait = gates::WaitParams(words_ + 4 * Self(), due);
      Enqueue(gpu_.stream(), &wait, 1);
    }
    gpu_.Stamp(gpu_.stream(), At(&page_->entered[Self()][turn]));
    if (options_.hold_us > 0) gpu_.Work(gpu_.stream(), static_cast<std::uint64_t>(options_.hold_us) * 1000);
    gpu_.Stamp(gpu_.stream(), At(&page_->left[Self()][turn]));
    Release(turn);
  }

  void Release(std::uint32_t turn) {
    if (options_.synchronises) {
      while (Cuda().cuStreamQuery(gpu_.stream()) == CUDA_ERROR_NOT_READY) SleepNs(options_.look_us * 1000);
      StoreOnHost(turn);
    } else if (options_.host_gates) {
      releasing_ = turn;
      Check(Cuda().cuLaunchHostFunc(gpu_.stream(), &HandoverClient::ReleaseOnHost, this), "cuLaunchHostFunc");
    } else {
      auto write = gates::WriteParams(words_ + 4 * (1 - Self()), turn);
      Enqueue(gpu_.stream(), &write, 1);
    }
  }

  // The host does not run ahead here, so one number is enough.
  static void ReleaseOnHost(void* client) {
    auto* self = static_cast<HandoverClient*>(client);
    self->StoreOnHost(self->releasing_);
  }

  void StoreOnHost(std::uint32_t turn) {
    std::uint32_t* word = &page_->words[1 - Self()];
    base::StoreWord(word, turn);
    base::FutexWakeAll(word);
  }

  void AwaitOnHost(std::uint32_t due) {
    std::uint32_t* word = &page_->words[Self()];
    for (std::uint32_t seen = base::LoadWord(word); seen < due; seen = base::LoadWord(word))
      base::FutexWait(word, seen, 1'000'000'000);
  }

  CUdeviceptr At(const void* member) const {
    return on_device_ +
           static_cast<CUdeviceptr>(static_cast<const char*>(member) - reinterpret_cast<const char*>(page_));
  }

  HandoverPage* page_;
  int client_;
  HandoverOptions options_;
  RealGpu gpu_;
  CUdeviceptr on_device_;
  CUdeviceptr words_;
  std::uint32_t releasing_ = 0;
};

}  // namespace

void RunHandoverClient(HandoverPage* page, int client, int socket, const HandoverOptions& options) {
  HandoverClient(page, client, socket, options).Run();
}

}  // namespace crossover::bench
