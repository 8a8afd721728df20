// Says what each rank has after a compressed all-reduce in two steps, and how many bytes it sends. Pure: it
// works on the buffers of all ranks at once, as an oracle for what ranks do over a network.
//
// Flat: the buffer is divided into a chunk for each rank, its owner. Each rank encodes the chunks of the
// others for their owners. The owner decodes and adds them to its own, which is not encoded, in the order of
// ranks. It encodes the sum once, decodes its own copy from these bytes, and sends the bytes to all. So all
// ranks end with the same bits, and values are encoded twice whatever the number of ranks is. This is the
// scatter-reduce-all-gather of CGX (arXiv 2111.08617).
//
// Hierarchical: the ranks of a node add their buffers as floats, in the order of ranks, and each keeps one
// shard of the sum. The ranks with the same place in their nodes exchange their shard as above. The ranks of
// a node give each other the results as floats. A node of n ranks then sends 1 / n of the bytes to other
// nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "shrink/codec/pieces.h"
#include "shrink/codec/q8.h"

namespace crossover::shrink {

// A Topology has `nodes` nodes of `per_node` ranks. Rank r is on node r / per_node.
struct Topology {
  std::size_t nodes = 1;
  std::size_t per_node = 1;
  std::size_t ranks() const { return nodes * per_node; }
};

// A Sent has the bytes that one rank sends.
struct Sent {
  std::uint64_t within_node = 0;
  std::uint64_t between_nodes = 0;
};

using Buffers = std::vector<std::vector<float>>;

struct Exchanged {
  Buffers values;          // of each rank; all are equal bit for bit
  std::vector<Sent> sent;  // by each rank
};

// Returns parts + 1 borders: part p has the elements from borders[p] to borders[p + 1]. All parts but the
// last ones have the same length, a multiple of `bucket`. The last parts may be shorter, or empty.
std::vector<std::size_t> Borders(std::size_t count, std::size_t parts, std::size_t bucket);

// Returns the random numbers of one encoding: `step` is 0 for contributions and 1 for sums. No two encodings
// of a call share numbers, or else errors would not be independent.
Draw DrawOf(const Rounding& rounding, const Topology& topology, std::size_t rank, unsigned step,
            std::size_t first);

// A BitsPlan has bits for each piece of each place's shard: bits[place][chunk * pieces.per_chunk + piece].
struct BitsPlan {
  Pieces pieces;
  std::vector<std::vector<std::uint8_t>> bits;
};
// Has the V of each piece (choice.h), in the order of a plan's bits: of the contributions and of the sum.
using PieceErrors = std::vector<std::vector<double>>;

// Returns the plan that has the same bits everywhere.
BitsPlan UniformPlan(std::size_t count, const Topology& topology, unsigned bucket, std::uint8_t bits);

// Returns the sums of all ranks' buffers. Returns nothing if there is not one buffer for each rank, if the
// buffers differ in length or if the format is not valid.
std::optional<Exchanged> ExchangeFlat(const Buffers& buffers, const Topology& topology, const Format& format,
                                      const Rounding& rounding);
std::optional<Exchanged> ExchangeHierarchical(const Buffers& buffers, const Topology& topology,
                                              const Format& format, const Rounding& rounding);

// Does the same as ExchangeHierarchical(), with the bits of a plan. Adds the errors to `errors`, unless it is
// null: each piece's in the order of 32 lanes, which kernels have.
std::optional<Exchanged> ExchangePlanned(const Buffers& buffers, const Topology& topology,
                                         const BitsPlan& plan, unsigned bucket, const Rounding& rounding,
                                         PieceErrors* errors);

}  // namespace crossover::shrink
