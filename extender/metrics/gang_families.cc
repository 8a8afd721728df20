#include "extender/metrics/gang_families.h"

#include <algorithm>
#include <numeric>

#include "common/metrics/families.h"

namespace crossover::extender {

using metrics::AddCounter;
using metrics::AddGauge;
using metrics::Family;
using metrics::Single;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<MetricFamily> GangFamilies(const std::optional<GangStats>& stats, double now_s) {
  if (!stats) return {};
  MetricFamily gangs =
      Family("crossover_extender_gangs",
             "Gangs that Crossover places, by how far they are; only the replica that leads has any.",
             MetricType::Gauge);
  AddGauge(&gangs, {{"state", "waiting"}}, std::accumulate(stats->waiting.begin(), stats->waiting.end(), 0));
  AddGauge(&gangs, {{"state", "placing"}}, stats->placing);
  AddGauge(&gangs, {{"state", "running"}}, stats->running);
  MetricFamily waiting = Family("crossover_extender_waiting_gangs",
                                "Gangs without a place, by what they wait for.", MetricType::Gauge);
  for (std::size_t wait = 0; wait < kWaitKinds; ++wait)
    AddGauge(&waiting, {{"reason", NameOf(static_cast<Wait>(wait))}}, stats->waiting[wait]);
  MetricFamily claims = Family("crossover_extender_claims_ended_total",
                               "Attempts to make room for a gang that have ended, by how they ended, counted "
                               "from when this replica became the leader.",
                               MetricType::Counter);
  for (std::size_t end = 0; end < kClaimEnds; ++end)
    AddCounter(&claims, {{"end", NameOf(static_cast<ClaimEnd>(end))}},
               static_cast<double>(stats->claims_ended[end]));
  MetricFamily choices =
      Family("crossover_extender_shrink_choices_total",
             "Choices of a gang's level of compressed reductions (shrink: auto), by what the extender chose, "
             "counted from when this replica became the leader.",
             MetricType::Counter);
  for (std::size_t i = 0; i < base::kShrinkChoiceCount; ++i)
    AddCounter(&choices, {{"choice", base::kShrinkChoices[i].text}}, static_cast<double>(stats->choices[i]));
  const double oldest_s = stats->oldest_s > 0 ? std::max(now_s - stats->oldest_s, 0.0) : 0;
  return {std::move(gangs),
          std::move(waiting),
          std::move(claims),
          std::move(choices),
          Single("crossover_extender_claims", "Gangs for which gangs of lower priority make room now.",
                 MetricType::Gauge, stats->claims),
          Single("crossover_extender_gangs_left_total",
                 "Gangs that made room for one of higher priority, since this replica became the leader.",
                 MetricType::Counter, static_cast<double>(stats->gangs_left)),
          Single("crossover_extender_lacking_gangs",
                 "Gangs with some pods that are bound and other pods that wait for a place.",
                 MetricType::Gauge, stats->lacking),
          Single("crossover_extender_reservations", "Pods that have a place and are not bound yet.",
                 MetricType::Gauge, stats->reservations),
          Single("crossover_extender_oldest_wait_seconds",
                 "For how long the gang that waits longest for GPUs has had all its pods; 0: none waits.",
                 MetricType::Gauge, oldest_s)};
}

}  // namespace crossover::extender
