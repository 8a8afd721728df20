#include "shrink/library/inner.h"

#include "shrink/library/found.h"

namespace crossover::shrink::library {
namespace {

constinit Found<InnerNccl> known;

bool FindAll(InnerNccl* nccl) {
#define SHRINK_INNER(member, symbol, type, way)                           \
  nccl->member = reinterpret_cast<type>(FindFunction(Way::way, #symbol)); \
  if (nccl->member == nullptr) return false;
#include "shrink/library/inner.def"
#undef SHRINK_INNER
  return true;
}

}  // namespace

const InnerNccl* InnerFunctions() { return known.Get(&FindAll); }

}  // namespace crossover::shrink::library
