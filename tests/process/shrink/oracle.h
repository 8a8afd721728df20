// Says what ranks with codes between nodes have to come to: an oracle for rank.cc that knows nothing of the
// library but what records 0075 and 0077 say.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "shrink/codec/adaptive.h"
#include "shrink/codec/exchange.h"

namespace crossover::shrink {

// A Kind has what ranks know of the calls with one count, if their bits follow the values.
struct Kind {
  BitsPlan plan;
  PieceErrors errors, said;
  std::uint64_t calls = 0;
};

// An Oracle has what one communicator does. Its user tells it of each call that came out as expected.
class Oracle {
 public:
  static constexpr unsigned kBucket = 512;
  static constexpr std::uint64_t kPeriod = 100, kDelay = 32;

  Topology topology;
  bool adaptive = false;

  // Begins with a communicator that has made no call.
  void Begin(std::uint64_t seed) {
    rounding_ = {seed, 0};
    kinds_.clear();
  }

  // Returns what all ranks have behind the next call.
  std::vector<float> Sum(const Buffers& buffers, float divisor) {
    std::optional<Exchanged> result;
    if (adaptive) {
      next_ = KindOf(buffers[0].size());
      result = ExchangePlanned(buffers, topology, next_.plan, kBucket, rounding_, &next_.errors);
    } else {
      result = ExchangeHierarchical(buffers, topology, {8, kBucket}, rounding_);
    }
    std::vector<float> values = result->values[0];
    for (float& value : values) value = IsNaN(value) ? kNaN : value / divisor;
    return values;
  }

  // Tells that the call was as Sum() said.
  void Accept(std::size_t count) {
    ++rounding_.call;
    if (!adaptive) return;
    if (next_.calls % kPeriod == kPeriod - 1) {
      next_.said = next_.errors;
      for (auto& of_place : next_.errors) of_place.assign(of_place.size(), 0);
    }
    ++next_.calls;
    kinds_[count] = next_;
  }

  // Returns the bits of the last call, place by place.
  std::string Bits() const {
    std::string text;
    for (const auto& of_place : next_.plan.bits) {
      if (!text.empty()) text += ' ';
      for (const std::uint8_t bits : of_place) text += std::to_string(bits);
    }
    return text;
  }

 private:
  Kind KindOf(std::size_t count) const {
    const auto known = kinds_.find(count);
    if (known == kinds_.end()) {
      Kind kind{UniformPlan(count, topology, kBucket, 8), {}, {}, 0};
      kind.errors.assign(topology.per_node, std::vector<double>(kind.plan.bits[0].size(), 0));
      return kind;
    }
    Kind kind = known->second;
    if (kind.calls >= kPeriod && kind.calls % kPeriod == kDelay - 1) Choose(count, &kind);
    return kind;
  }

  void Choose(std::size_t count, Kind* kind) const {
    AdaptiveRule rule{.bucket = kBucket, .parts = 4'096};
    const char* percent = std::getenv("CROSSOVER_SHRINK_ERROR");
    if (percent != nullptr) rule.alpha = std::atof(percent) / 100;
    const auto shards = Borders(count, topology.per_node, kBucket);
    for (std::size_t place = 0; place < topology.per_node; ++place) {
      const auto chunks = Borders(shards[place + 1] - shards[place], topology.nodes, kBucket);
      std::vector<ChunkStatistics> statistics;
      double sum = 0;
      for (std::size_t i = 0; i < kind->plan.bits[place].size(); ++i) {
        const std::size_t chunk = i / kind->plan.pieces.per_chunk;
        const std::size_t size = kind->plan.pieces.SizeOf(i % kind->plan.pieces.per_chunk,
                                                          chunks[chunk + 1] - chunks[chunk], kBucket);
        statistics.push_back({size, kind->said[place][i]});
        sum += kind->said[place][i];
      }
      if (sum > 0) kind->plan.bits[place] = ChooseBits(statistics, rule).value_or(kind->plan.bits[place]);
    }
  }

  Rounding rounding_;
  std::map<std::size_t, Kind> kinds_;  // by their count
  Kind next_;
};

}  // namespace crossover::shrink
