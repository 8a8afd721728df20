#include "deviceplugin/metrics/signal_metrics.h"

#include "common/metrics/families.h"
#include "deviceplugin/signals/signal_messages.h"

namespace crossover::deviceplugin {

using metrics::AddCounter;
using metrics::AddGauge;
using metrics::Family;
using prometheus::MetricFamily;
using prometheus::MetricType;

std::vector<MetricFamily> SignalMetrics::Collect() const {
  const signals::ByGpu figures = look_();
  if (figures.empty()) return {};
  MetricFamily present = Family(
      "crossover_signallers",
      "Signallers of a GPU that are connected: one works, and the others stand ready.", MetricType::Gauge);
  MetricFamily offers = Family("crossover_signal_offers_total",
                               "Times that a client that asks for signals was told whether it gets them, by "
                               "state.",
                               MetricType::Counter);
  MetricFamily proofs =
      Family("crossover_signal_proofs_total",
             "Proofs that clients asked for before they used signals, by outcome.", MetricType::Counter);
  MetricFamily again =
      Family("crossover_signals_again_total",
             "Times that a signal was written again because the client still waited at its open gate.",
             MetricType::Counter);
  MetricFamily exported = Family(
      "crossover_signal_memory_bytes",
      "Memory of a GPU that its signallers have exported for signals, without what their contexts take.",
      MetricType::Gauge);
  MetricFamily resident =
      Family("crossover_signaller_resident_bytes",
             "Memory of the host that the signallers of a GPU have, as the kernel says.", MetricType::Gauge);
  MetricFamily cpu =
      Family("crossover_signaller_cpu_seconds_total",
             "Processor time of the signallers of a GPU, as the kernel says.", MetricType::Counter);
  for (const auto& [uuid, figure] : figures) {
    AddGauge(&present, {{"gpu_uuid", uuid}}, figure.signallers);
    for (std::uint32_t state = 0; state < CROSSOVER_OFFER_STATES; ++state) {
      if (state == CROSSOVER_OFFER_ASK) continue;
      AddCounter(&offers,
                 {{"gpu_uuid", uuid}, {"state", signals::NameOf(static_cast<crossover_offer_state>(state))}},
                 static_cast<double>(figure.offers[state]));
    }
    AddCounter(&proofs, {{"gpu_uuid", uuid}, {"outcome", "written"}},
               static_cast<double>(figure.proofs_written));
    AddCounter(&proofs, {{"gpu_uuid", uuid}, {"outcome", "failed"}},
               static_cast<double>(figure.proofs_failed));
    AddCounter(&again, {{"gpu_uuid", uuid}}, static_cast<double>(figure.again));
    if (figure.exported_bytes != 0)
      AddGauge(&exported, {{"gpu_uuid", uuid}, {"source", signals::kExported}},
               static_cast<double>(figure.exported_bytes));
    if (figure.host.resident_bytes)
      AddGauge(&resident, {{"gpu_uuid", uuid}}, static_cast<double>(*figure.host.resident_bytes));
    if (figure.host.cpu_seconds) AddCounter(&cpu, {{"gpu_uuid", uuid}}, *figure.host.cpu_seconds);
  }
  return {std::move(present),  std::move(offers),   std::move(proofs), std::move(again),
          std::move(exported), std::move(resident), std::move(cpu)};
}

}  // namespace crossover::deviceplugin
