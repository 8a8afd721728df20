// Keeps the plans of a communicator: how many bits the pieces of each kind of call have, and what is known of
// their errors. A kind is all calls with one count.
#pragma once

#include <cstdint>

#include "shrink/library/buffer.h"
#include "shrink/library/plan.h"

namespace crossover::shrink::library {

// A Plan is what one call has to know of its kind.
struct Plan {
  // Says what has to be copied to the GPU ahead of the call.
  enum class Copy : std::uint8_t { kNothing, kPieces, kAll };

  KindMemory* kind = nullptr;  // null: the call has 8 bits everywhere and no plan
  CUdeviceptr on_gpu = 0;      // the same
  CUevent said = nullptr;      // behind the copy of what was said
  Pieces pieces;
  Copy copy = Copy::kNothing;
  bool says_errors = false;

  bool is_there() const { return kind != nullptr; }
  CUdeviceptr pieces_on_gpu() const { return on_gpu + offsetof(KindMemory, pieces); }
  CUdeviceptr errors_on_gpu() const { return on_gpu + offsetof(KindMemory, errors); }
  CUdeviceptr said_on_gpu() const { return on_gpu + offsetof(KindMemory, said); }
};

// Plans is a handle: copies are of the same plans. It is used by one thread at a time.
class Plans {
 public:
  constexpr Plans() = default;

  // Takes the memory on the host. Returns false and sets `reason` if that is refused.
  bool Make(vote::Reason* reason);
  bool is_made() const { return memory_ != nullptr; }
  // Gives the memory back. REQUIRES: no work is queued that uses it.
  void Free();

  // Returns the plan of the next call with this count, with an event that has to be done before Change(), or
  // null. The tables of the GPU lie at the begin of `buffer`. The plan is not there where there are more
  // kinds or nodes than fit.
  Plan Next(std::uint64_t count, const Position& position, const Buffer& buffer, CUevent* before_change);
  // Changes the bits of the plan, as those of the other ranks do. REQUIRES: what was said has come.
  void Change(std::uint64_t count, const Position& position, std::uint32_t percent, Plan* plan);

 private:
  struct Memory;
  Memory* memory_ = nullptr;
};

}  // namespace crossover::shrink::library
