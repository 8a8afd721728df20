// Queues one all-reduce with 8 bits, or with those of a plan: kernels of the library and groups of NCCL's
// calls on one stream.
#pragma once

#include "shrink/codec/draw.h"
#include "shrink/library/buffer.h"
#include "shrink/library/inner.h"
#include "shrink/library/plans.h"
#include "shrink/library/share.h"
#include "shrink/library/topology.h"

namespace crossover::shrink::library {

// A Setting is what all calls of a communicator have in common, and which call this is.
struct Setting {
  const InnerNccl& nccl;
  NcclComm of_node;
  NcclComm of_place;
  const Position& position;
  Rounding rounding;
  bool marked;  // the first call of NCCL goes to the next library in line
};

// Queues the call of `step`, whose codes lie at the step's offset of the buffer. Without a plan it has 8
// bits.
NcclResult RunExchange(const Setting& setting, Buffer& buffer, const Step& step, const Plan& plan);

}  // namespace crossover::shrink::library
