#include "extender/gang/pod_rank.h"

#include <charconv>
#include <string_view>
#include <tuple>

#include "extender/gang/membership.h"

namespace crossover::extender {
namespace {

constexpr char kStatefulSetIndex[] = "apps.kubernetes.io/pod-index";

// Returns the whole number in `text`, or kNone if it is no whole number or is negative.
long IndexIn(std::string_view text) {
  long index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  return error == std::errc() && end == text.data() + text.size() && index >= 0 ? index : PodRank::kNone;
}

long IndexOf(const Pod& pod, std::string_view key) { return IndexIn(MarkOf(pod, std::string(key))); }

}  // namespace

PodRank RankOf(const Pod& pod) {
  PodRank rank;
  rank.name = pod.name;
  const IndexKeys keys = IndexKeysOf(pod);
  if (*keys.over_parts != '\0') rank.over_parts = IndexOf(pod, keys.over_parts);
  if (*keys.part != '\0') rank.part = MarkOf(pod, keys.part);
  std::string_view left = keys.indices;
  for (std::size_t i = 0; i < rank.indices.size() && !left.empty(); ++i) {
    const std::size_t blank = left.find(' ');
    rank.indices[i] = IndexOf(pod, left.substr(0, blank));
    left = blank == std::string_view::npos ? std::string_view() : left.substr(blank + 1);
  }
  if (!rank.labelled()) rank.indices[0] = IndexOf(pod, kStatefulSetIndex);
  return rank;
}

bool operator<(const PodRank& a, const PodRank& b) {
  const auto key = [](const PodRank& rank) {
    return std::make_tuple(rank.over_parts, std::string_view(rank.part), rank.indices, rank.name.size(),
                           std::string_view(rank.name));
  };
  return key(a) < key(b);
}

bool StandsFor(const PodRank& a, const PodRank& b) {
  if (a.labelled() != b.labelled()) return false;
  if (!a.labelled()) return a.name == b.name;
  return std::tie(a.over_parts, a.part, a.indices) == std::tie(b.over_parts, b.part, b.indices);
}

}  // namespace crossover::extender
