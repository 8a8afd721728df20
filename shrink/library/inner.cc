#include "shrink/library/inner.h"

#include "common/base/mutex.h"

namespace crossover::shrink::library {
namespace {

struct Known {
  base::Mutex mutex;
  std::atomic<bool> there{false};
  InnerNccl nccl;  // valid once `there` is true
};
constinit Known known;

bool FindAll(InnerNccl* nccl) {
#define SHRINK_INNER(member, symbol, type, through)                               \
  nccl->member = reinterpret_cast<type>(FindFunction(Through::through, #symbol)); \
  if (nccl->member == nullptr) return false;
#include "shrink/library/inner.def"
#undef SHRINK_INNER
  return true;
}

}  // namespace

const InnerNccl* InnerFunctions() {
  if (known.there.load(std::memory_order_acquire)) return &known.nccl;
  const base::Locked locked(known.mutex);
  if (known.there.load(std::memory_order_relaxed)) return &known.nccl;
  if (!FindAll(&known.nccl)) return nullptr;
  known.there.store(true, std::memory_order_release);
  return &known.nccl;
}

}  // namespace crossover::shrink::library
