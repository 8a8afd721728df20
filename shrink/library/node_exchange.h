// Runs an all-reduce with 8 bits between nodes, or with those of plans, as shrink/codec/exchange.h says
// (hierarchical, planned), by calls of NCCL on two communicators of its own: one of the ranks of a node, and
// one of the ranks that have the same place in their nodes.
#pragma once

#include <cstdint>

#include "shrink/codec/draw.h"
#include "shrink/library/buffer.h"
#include "shrink/library/inner.h"
#include "shrink/library/plans.h"
#include "shrink/library/share.h"

namespace crossover::shrink::library {

// A Wanted says of which rank an exchange is to be made, and what the owner of the job asks for.
struct Wanted {
  std::size_t ranks = 0;
  std::size_t rank = 0;
  std::uint64_t seed = 0;
  const char* level = "";
  std::uint32_t error_percent = 0;  // of plans
  Plans plans;                      // made if the level is adaptive
};

// A NodeExchange belongs to one communicator. Its functions run with the communicator's context current. NCCL
// lets one thread at a time use a communicator, and so does this, but for AsyncError().
class NodeExchange {
 public:
  constexpr NodeExchange() = default;

  // Says what became of an exchange that was to be made.
  enum class Made : std::uint8_t {
    kReady,
    kUnsuitable,  // the ranks are not so divided, which all of them know alike: they run plain
    kFailed       // other ranks may be ready, so this one must not continue
  };
  // Asks all ranks of `comm` where they are, and makes the two communicators. Runs once, to see that it goes
  // and so that NCCL takes its memory now. Blocks until all ranks have called it. Sets `reason` unless it is
  // ready. REQUIRES: all ranks of `comm` call it with a buffer of the same size, `mib`.
  Made Make(NcclComm comm, const Wanted& wanted, Buffer& buffer, std::uint32_t mib, vote::Reason* reason);

  // Returns whether it is ready.
  bool is_ready() const { return nccl_ != nullptr; }
  const Position& position() const { return position_; }
  // Returns how many bytes at the begin of the buffer no call may have.
  std::uint64_t reserved() const { return plans_.is_made() ? kPlansBytes : 0; }
  // Returns the plans, which are the caller's to free once all work is done.
  const Plans& plans() const { return plans_; }

  // Queues a call on its stream. No work is launched as the program's; the first call of NCCL marks the
  // collective for libcrossover.so. REQUIRES: is_ready(), no group is open, and the call fits into the
  // buffer.
  NcclResult Run(Buffer& buffer, const Step& step);

  // Returns what NCCL says of the two communicators. Any thread.
  NcclResult AsyncError() const;

  // Ends the two communicators. The plans stay.
  void Destroy();
  void Abort();

 private:
  NcclResult Split(NcclComm comm, std::size_t rank);
  NcclResult WarmUp(Buffer& buffer, std::uint64_t bytes, CUstream stream);
  NcclResult NextPlan(const Buffer& buffer, std::uint64_t count, Plan* plan);
  NcclResult Await(CUevent event) const;

  const InnerNccl* nccl_ = nullptr;
  NcclComm of_node_ = nullptr;   // null if a node has one rank
  NcclComm of_place_ = nullptr;  // ranks of equal place; rank n is on node n
  Position position_;
  Rounding rounding_;
  Plans plans_;
  std::uint32_t error_percent_ = 0;
};

}  // namespace crossover::shrink::library
