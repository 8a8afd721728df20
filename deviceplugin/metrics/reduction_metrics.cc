#include "deviceplugin/metrics/reduction_metrics.h"

#include <cstdint>
#include <iterator>
#include <map>
#include <string>

#include "common/base/plain_reason.h"
#include "common/base/shrink_level.h"
#include "common/metrics/families.h"
#include "deviceplugin/metrics/client_labels.h"

namespace crossover::deviceplugin {
namespace {

using metrics::Family;
using metrics::Labels;
using prometheus::MetricFamily;
using prometheus::MetricType;

Labels Labelled(Labels labels, const char* name, const std::string& value) {
  labels.push_back({name, value});
  return labels;
}

// Returns the communicators by level, with the level that is asked for. Levels that this version does not
// know are one.
std::map<std::string, double> ByLevel(const crossover_reductions& told) {
  std::map<std::string, double> by_level;
  by_level[base::NameOfShrinkLevel(told.asked)] = 0;
  for (std::uint32_t level = 0; level < std::size(told.narrowed); ++level) {
    if (told.narrowed[level] != 0) by_level[base::NameOfShrinkLevel(level)] += told.narrowed[level];
  }
  return by_level;
}

// Returns the plain communicators by reason. Reasons that this version does not know are one.
std::map<std::string, double> ByReason(const crossover_reductions& told) {
  std::map<std::string, double> by_reason;
  for (std::uint32_t reason = 0; reason < std::size(told.plain); ++reason) {
    if (told.plain[reason] != 0)
      by_reason[base::TextOf(base::PlainReason{reason}).name] += told.plain[reason];
  }
  return by_reason;
}

}  // namespace

std::vector<MetricFamily> ReductionMetrics::Collect() const {
  MetricFamily compressed =
      Family("crossover_reductions_compressed",
             "Communicators of a client whose reductions are compressed now, by level; 0 at the level that "
             "its owner asks for if there is none, and always at auto. Of clients whose owners ask for it.",
             MetricType::Gauge);
  MetricFamily plain =
      Family("crossover_reductions_plain_total",
             "Communicators of a client whose reductions are plain although its owner asks for compressed "
             "ones, by reason. One that is compressed counts once for each reason why single calls on it "
             "are plain (captured, too_large).",
             MetricType::Counter);
  for (const ReductionsView& view : look_()) {
    const Labels own = LabelsOf(*view.member);
    for (const auto& [level, count] : ByLevel(*view.reductions))
      metrics::AddGauge(&compressed, Labelled(own, "level", level), count);
    for (const auto& [reason, count] : ByReason(*view.reductions))
      metrics::AddCounter(&plain, Labelled(own, "reason", reason), count);
  }
  return {std::move(compressed), std::move(plain)};
}

}  // namespace crossover::deviceplugin
