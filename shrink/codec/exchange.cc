#include "shrink/codec/exchange.h"

#include <algorithm>
#include <span>
#include <utility>

#include "shrink/codec/parts.h"

namespace crossover::shrink {
namespace {

struct Exchange {
  const Topology& topology;
  Format format;  // the bits are those of the piece at work, if there is a plan
  const Rounding& rounding;
  Exchanged result;
  const BitsPlan* plan = nullptr;
  PieceErrors* errors = nullptr;

  void Count(std::size_t from, std::size_t to, std::uint64_t bytes) {
    Sent& sent = result.sent[from];
    (from / topology.per_node == to / topology.per_node ? sent.within_node : sent.between_nodes) += bytes;
  }
};

using Bytes = std::vector<std::uint8_t>;

Bytes Encoded(const Exchange& exchange, std::span<const float> values, std::size_t rank, unsigned step,
              std::size_t first) {
  Bytes bytes(EncodedBytes(values.size(), exchange.format.bits, exchange.format.bucket));
  Encode(values.data(), values.size(), exchange.format,
         DrawOf(exchange.rounding, exchange.topology, rank, step, first), bytes.data(), bytes.size());
  return bytes;
}

// Returns 6 V of one bucket: count (max - min)^2.
double SixErrorsOf(const std::uint8_t* code, std::size_t count, unsigned bits) {
  const float min = FloatOf(static_cast<std::uint32_t>(LoadBytes(code, 4)));
  const float step = FloatOf(static_cast<std::uint32_t>(LoadBytes(code + 4, 4)));
  if (!IsFinite(min) || !IsFinite(step)) return 0;
  const double range = static_cast<double>(step) * static_cast<double>(TopLevel(bits));
  return static_cast<double>(count) * range * range;
}

// Returns the V of a piece of `count` elements from its codes, which all have the same form.
double ErrorsOf(const std::vector<Bytes>& codes, std::size_t count, const Format& format) {
  constexpr std::size_t kLanes = 32;
  const std::size_t stride = kScaleBytes + LevelBytes(format.bucket, format.bits);
  double found = 0;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    double of_lane = 0;
    for (std::size_t begin = lane * format.bucket; begin < count; begin += kLanes * format.bucket) {
      const std::size_t size = std::min<std::size_t>(format.bucket, count - begin);
      for (const Bytes& code : codes)
        of_lane += SixErrorsOf(code.data() + begin / format.bucket * stride, size, format.bits);
    }
    found += of_lane;
  }
  return found / 6;
}

// Reduces one chunk, or one piece of it, which begins at `first`, to its owner, and gives it to all ranks of
// the group. Returns the V of all codes, or 0 if no errors are asked for.
double ReduceChunk(Exchange& exchange, std::span<const std::size_t> group, std::size_t owner,
                   std::size_t first, std::size_t count) {
  std::vector<Bytes> codes(group.size());
  std::size_t own = 0;
  const auto chunk_of = [&](std::size_t rank) {
    return std::span(exchange.result.values[rank]).subspan(first, count);
  };
  const std::span<float> sum = chunk_of(owner);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::size_t rank = group[i];
    if (rank == owner) {
      own = i;
      continue;
    }
    codes[i] = Encoded(exchange, chunk_of(rank), rank, 0, first);
    exchange.Count(rank, owner, codes[i].size());
    DecodeAdd(codes[i].data(), codes[i].size(), count, exchange.format, sum.data());
  }
  codes[own] = Encoded(exchange, sum, owner, 1, first);
  const Bytes& bytes = codes[own];
  for (const std::size_t rank : group) {
    if (rank != owner) exchange.Count(owner, rank, bytes.size());
    Decode(bytes.data(), bytes.size(), count, exchange.format, chunk_of(rank).data());
  }
  return exchange.errors == nullptr ? 0 : ErrorsOf(codes, count, exchange.format);
}

// Reduces chunk `chunk` of a place's shard, piece after piece.
void ReducePieces(Exchange& exchange, std::span<const std::size_t> group, std::size_t chunk,
                  std::size_t first, std::size_t count) {
  const Pieces& pieces = exchange.plan->pieces;
  const std::size_t bucket = exchange.format.bucket, place = group[0] % exchange.topology.per_node;
  for (std::size_t piece = 0; piece < pieces.per_chunk; ++piece) {
    const std::size_t size = pieces.SizeOf(piece, count, bucket), at = chunk * pieces.per_chunk + piece;
    if (size == 0) continue;
    exchange.format.bits = exchange.plan->bits[place][at];
    const double errors =
        ReduceChunk(exchange, group, group[chunk], first + piece * pieces.length * bucket, size);
    if (exchange.errors != nullptr) (*exchange.errors)[place][at] += errors;
  }
}

// Exchanges the elements from `first` to `last` among the ranks of a group. A rank alone keeps them as they
// are.
void ReduceInTwoSteps(Exchange& exchange, std::span<const std::size_t> group, std::size_t first,
                      std::size_t last) {
  if (group.size() < 2) return;
  const auto borders = Borders(last - first, group.size(), exchange.format.bucket);
  for (std::size_t i = 0; i < group.size(); ++i) {
    const std::size_t begin = first + borders[i], size = borders[i + 1] - borders[i];
    if (exchange.plan != nullptr) {
      ReducePieces(exchange, group, i, begin, size);
    } else {
      ReduceChunk(exchange, group, group[i], begin, size);
    }
  }
}

// Adds the elements from `first` to `last` of a node's ranks. The sum lies with the rank at `place` in that
// node.
void ReduceWithinNode(Exchange& exchange, std::size_t node, std::size_t place, std::size_t first,
                      std::size_t last) {
  const std::size_t begin = node * exchange.topology.per_node;
  const std::size_t owner = begin + place;
  std::vector<float> sum(last - first, 0);
  for (std::size_t rank = begin; rank < begin + exchange.topology.per_node; ++rank) {
    if (rank != owner) exchange.Count(rank, owner, sum.size() * sizeof(float));
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += exchange.result.values[rank][first + i];
  }
  std::ranges::copy(sum, exchange.result.values[owner].begin() + static_cast<std::ptrdiff_t>(first));
}

// Copies these elements from the rank at `place` in a node to the node's other ranks.
void GatherWithinNode(Exchange& exchange, std::size_t node, std::size_t place, std::size_t first,
                      std::size_t last) {
  const std::size_t begin = node * exchange.topology.per_node;
  const std::size_t owner = begin + place;
  for (std::size_t rank = begin; rank < begin + exchange.topology.per_node; ++rank) {
    if (rank == owner) continue;
    exchange.Count(owner, rank, (last - first) * sizeof(float));
    const auto shard = std::span(exchange.result.values[owner]).subspan(first, last - first);
    std::ranges::copy(shard, exchange.result.values[rank].begin() + static_cast<std::ptrdiff_t>(first));
  }
}

void ReduceHierarchically(Exchange& exchange) {
  const Topology& topology = exchange.topology;
  const auto borders = Borders(exchange.result.values[0].size(), topology.per_node, exchange.format.bucket);
  for (std::size_t place = 0; place < topology.per_node; ++place) {
    std::vector<std::size_t> group;
    for (std::size_t node = 0; node < topology.nodes; ++node) {
      ReduceWithinNode(exchange, node, place, borders[place], borders[place + 1]);
      group.push_back(node * topology.per_node + place);
    }
    ReduceInTwoSteps(exchange, group, borders[place], borders[place + 1]);
    for (std::size_t node = 0; node < topology.nodes; ++node)
      GatherWithinNode(exchange, node, place, borders[place], borders[place + 1]);
  }
}

bool AreValid(const Buffers& buffers, const Topology& topology, const Format& format) {
  return !buffers.empty() && buffers.size() == topology.ranks() && IsValid(buffers[0].size(), format) &&
         std::ranges::all_of(buffers, [&](const auto& buffer) { return buffer.size() == buffers[0].size(); });
}

}  // namespace

std::vector<std::size_t> Borders(std::size_t count, std::size_t parts, std::size_t bucket) {
  const Parts divided = PartsOf(count, parts, bucket);
  std::vector<std::size_t> borders(parts + 1);
  for (std::size_t p = 0; p <= parts; ++p) borders[p] = divided.Begin(p);
  return borders;
}

Draw DrawOf(const Rounding& rounding, const Topology& topology, std::size_t rank, unsigned step,
            std::size_t first) {
  return {rounding.seed, CallOf(rounding, topology.ranks(), rank, step), first};
}

std::optional<Exchanged> ExchangeFlat(const Buffers& buffers, const Topology& topology, const Format& format,
                                      const Rounding& rounding) {
  if (!AreValid(buffers, topology, format)) return std::nullopt;
  Exchange exchange{topology, format, rounding, {buffers, std::vector<Sent>(buffers.size())}};
  std::vector<std::size_t> group(buffers.size());
  for (std::size_t rank = 0; rank < group.size(); ++rank) group[rank] = rank;
  ReduceInTwoSteps(exchange, group, 0, buffers[0].size());
  return std::move(exchange.result);
}

std::optional<Exchanged> ExchangeHierarchical(const Buffers& buffers, const Topology& topology,
                                              const Format& format, const Rounding& rounding) {
  if (!AreValid(buffers, topology, format)) return std::nullopt;
  Exchange exchange{topology, format, rounding, {buffers, std::vector<Sent>(buffers.size())}};
  ReduceHierarchically(exchange);
  return std::move(exchange.result);
}

BitsPlan UniformPlan(std::size_t count, const Topology& topology, unsigned bucket, std::uint8_t bits) {
  const std::size_t longest = PartsOf(count, topology.per_node, bucket).Size(0);
  const Pieces pieces = PiecesOf(PartsOf(longest, topology.nodes, bucket), topology.nodes, bucket);
  return {pieces, {topology.per_node, std::vector<std::uint8_t>(topology.nodes * pieces.per_chunk, bits)}};
}

std::optional<Exchanged> ExchangePlanned(const Buffers& buffers, const Topology& topology,
                                         const BitsPlan& plan, unsigned bucket, const Rounding& rounding,
                                         PieceErrors* errors) {
  const bool has_all = plan.bits.size() == topology.per_node &&
                       std::ranges::all_of(plan.bits, [&](const std::vector<std::uint8_t>& bits) {
                         return bits.size() == topology.nodes * plan.pieces.per_chunk &&
                                std::ranges::all_of(bits, [&](std::uint8_t b) {
                                  return IsValid(0, Format{b, bucket});
                                });
                       });
  if (!has_all || !AreValid(buffers, topology, {kMostBits, bucket})) return std::nullopt;
  Exchange exchange{
      topology, {kMostBits, bucket}, rounding, {buffers, std::vector<Sent>(buffers.size())}, &plan, errors};
  ReduceHierarchically(exchange);
  return std::move(exchange.result);
}

}  // namespace crossover::shrink
