// Reads what a model's blocks cost: times, activations and parameters. Pure.
//
// A profile is one of:
//   CSV    a line of names, then a line for each block. Columns: block, forward_ms, backward_ms,
//          output_bytes, stored_bytes, parameter_bytes. Any order; block and the last three may be missing.
//   JSON   {"blocks": [{"block": "attn0", "forward_ms": 1.5, "backward_ms": 3, ...}]}, with the same names
//   trace  what torch.profiler exports for chrome://tracing, of a step whose blocks are named by
//          record_function("block:NAME"). Backward passes of a block are named "block:NAME:backward". The
//          times are those of the host's regions, of which each block may have several: their median counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/simulate.h"

namespace crossover::pipeline {

// A Block is a part of a model that stays on one device. All values are of one micro-batch.
struct Block {
  std::string name;
  Time forward = 0, backward = 0;     // ns
  std::uint64_t output_bytes = 0;     // that the next block gets; as many come back as gradients
  std::uint64_t stored_bytes = 0;     // kept from the forward to the backward pass
  std::uint64_t parameter_bytes = 0;  // of the model, without gradients and the optimiser's state

  friend bool operator==(const Block&, const Block&) = default;
};

// Returns the blocks in `text`, the content of the file `name`, in their order. If anything in it is refused,
// returns nothing and sets `error` to a line with file, place, key, what is expected and the value.
std::optional<std::vector<Block>> ReadProfile(const std::string& text, const std::string& name,
                                              std::string* error);

}  // namespace crossover::pipeline
