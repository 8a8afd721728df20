#include "shrink/library/plans.h"

#include <cstdlib>

namespace crossover::shrink::library {

// It is made of zeros.
struct Plans::Memory {
  struct Kind {
    std::uint64_t count;
    std::uint64_t calls;
    CUevent said;
  };
  const Driver* driver;
  KindMemory* kinds_on_host;  // pinned: copies from and to it do not stop the host
  std::size_t size;
  Kind kinds[kMostKinds];
  ChoiceMemory choice;
};

bool Plans::Make(vote::Reason* reason) {
  const Driver* driver = DriverOf(Way::kPast);
  memory_ = driver == nullptr ? nullptr : static_cast<Memory*>(std::calloc(1, sizeof(Memory)));
  if (memory_ == nullptr) {
    *reason = vote::As(vote::PlainReason::kBudget,
                       vote::MakeReason("adaptive: expected %zu bytes of memory, got none", sizeof(Memory)));
    return false;
  }
  memory_->driver = driver;
  void* pinned = nullptr;
  CUresult result = driver->MemHostAlloc(&pinned, kPlansBytes, 0);
  if (result == CUDA_SUCCESS) memory_->kinds_on_host = static_cast<KindMemory*>(pinned);
  for (std::size_t i = 0; i < kMostKinds && result == CUDA_SUCCESS; ++i)
    result = driver->EventCreate(&memory_->kinds[i].said, CU_EVENT_DISABLE_TIMING);
  if (result == CUDA_SUCCESS) return true;
  *reason = vote::As(
      vote::PlainReason::kBudget,
      vote::MakeReason("adaptive: expected %llu bytes of pinned memory and %zu events, got error %d",
                       static_cast<unsigned long long>(kPlansBytes), kMostKinds, static_cast<int>(result)));
  Free();
  return false;
}

void Plans::Free() {
  if (memory_ == nullptr) return;
  for (const Memory::Kind& kind : memory_->kinds) {
    if (kind.said != nullptr) memory_->driver->EventDestroy(kind.said);
  }
  if (memory_->kinds_on_host != nullptr) memory_->driver->MemFreeHost(memory_->kinds_on_host);
  std::free(memory_);
  memory_ = nullptr;
}

Plan Plans::Next(std::uint64_t count, const Position& position, const Buffer& buffer,
                 CUevent* before_change) {
  Plan plan;
  *before_change = nullptr;
  plan.pieces = PiecesOfCall(count, position);
  std::size_t i = 0;
  while (i < memory_->size && memory_->kinds[i].count != count) ++i;
  if (i == kMostKinds || plan.pieces.per_chunk == 0) return plan;
  Memory::Kind& kind = memory_->kinds[i];
  plan.kind = memory_->kinds_on_host + i;
  plan.on_gpu = buffer.At(i * sizeof(KindMemory));
  plan.said = kind.said;
  if (i == memory_->size) {
    ++memory_->size;
    kind.count = count;
    *plan.kind = KindMemory();
    BeginPlan(plan.pieces, ShareOf(count, position), position, plan.kind);
    plan.copy = Plan::Copy::kAll;
  }
  plan.says_errors = SaysErrors(kind.calls);
  if (TakesBits(kind.calls)) *before_change = kind.said;
  ++kind.calls;
  return plan;
}

void Plans::Change(std::uint64_t count, const Position& position, std::uint32_t percent, Plan* plan) {
  const Share share = ShareOf(count, position);
  if (ChangePlan(plan->pieces, share, position, percent, &memory_->choice, plan->kind))
    plan->copy = Plan::Copy::kPieces;
}

}  // namespace crossover::shrink::library
