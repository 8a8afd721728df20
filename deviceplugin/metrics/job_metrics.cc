#include "deviceplugin/metrics/job_metrics.h"

#include <optional>
#include <string>

#include "common/metrics/families.h"
#include "deviceplugin/metrics/client_labels.h"
#include "deviceplugin/metrics/sharing_figures.h"

namespace crossover::deviceplugin {
namespace {

using metrics::AddGauge;
using metrics::Family;
using metrics::Labels;
using prometheus::MetricFamily;
using prometheus::MetricType;

struct Families {
  MetricFamily step_shared =
      Family("crossover_step_shared_seconds",
             "Mean time of an iteration of a client over the last 10 s, without stalls, while its job shares "
             "a GPU.",
             MetricType::Gauge);
  MetricFamily step_alone =
      Family("crossover_step_alone_seconds",
             "Time of an iteration of a client while no other job runs on its job's GPUs of the node, "
             "measured or estimated.",
             MetricType::Gauge);
  MetricFamily step_alone_age =
      Family("crossover_step_alone_age_seconds", "How long ago crossover_step_alone_seconds was learned.",
             MetricType::Gauge);
  MetricFamily compute =
      Family("crossover_compute_seconds", "Compute in an iteration of a client: the time of its turns.",
             MetricType::Gauge);
  MetricFamily input_wait =
      Family("crossover_input_wait_seconds",
             "Time in an iteration of a client for which its host launches nothing, as it waits for input or "
             "computes something itself; of clients that report it.",
             MetricType::Gauge);
  MetricFamily communication =
      Family("crossover_communication_seconds",
             "Exposed communication in an iteration of a client alone: what compute does not hide, without "
             "the wait for input.",
             MetricType::Gauge);
  MetricFamily exposed =
      Family("crossover_exposed_communication_ratio",
             "Exposed communication over the iteration of a client alone.", MetricType::Gauge);
  MetricFamily slowdown =
      Family("crossover_slowdown_ratio", "An iteration of a client that shares, over its iteration alone.",
             MetricType::Gauge);
  MetricFamily gain =
      Family("crossover_gain_ratio",
             "Work per time of the GPU that a client shares, relative to the jobs of this GPU one after the "
             "other; the same for all clients of a GPU.",
             MetricType::Gauge);
  MetricFamily gain_error =
      Family("crossover_gain_error_ratio",
             "Standard error of crossover_gain_ratio, as a part of it; the same for all clients of a GPU.",
             MetricType::Gauge);
  MetricFamily gain_uncertain = Family(
      "crossover_gain_uncertain",
      "1 if the standard error of crossover_gain_ratio is over 5%, so that the gain says little; else 0.",
      MetricType::Gauge);
  MetricFamily eta =
      Family("crossover_eta_ratio",
             "Work per time of the GPU that a client shares, relative to the best that turns can reach; the "
             "same for all clients of a GPU.",
             MetricType::Gauge);
  MetricFamily busy =
      Family("crossover_gpu_busy_ratio",
             "Part of the time for which a GPU computes for its clients; while the compute of all of them is "
             "known.",
             MetricType::Gauge);
};

Labels With(Labels labels, const char* name, const std::string& value) {
  labels.push_back({name, value});
  return labels;
}

void Add(MetricFamily* family, const Labels& labels, const std::optional<double>& value) {
  if (value) AddGauge(family, labels, *value);
}

void Add(MetricFamily* family, const Labels& labels, const std::optional<Sourced>& figure) {
  if (figure)
    AddGauge(family, With(labels, "source", figure->estimated ? "estimated" : "measured"), figure->value);
}

void AddClient(const ClientFigures& client, const GpuFigures& gpu, Families* families) {
  const Labels own = LabelsOf(*client.client->member);
  Add(&families->step_alone, own, client.step_alone_s);
  Add(&families->step_alone_age, own, client.step_alone_age_s);
  Add(&families->compute, own, client.compute_s);
  Add(&families->input_wait, own, client.input_wait_s);
  Add(&families->communication, own, client.communication_s);
  Add(&families->exposed, own, client.exposed_ratio);
  const Labels shared = With(own, "peer_gang", client.peers);
  Add(&families->step_shared, shared, client.step_shared_s);
  Add(&families->slowdown, shared, client.slowdown);
  Add(&families->gain, shared, gpu.gain);
  Add(&families->gain_error, shared, gpu.gain_error);
  Add(&families->gain_uncertain, shared, gpu.gain_uncertain);
  Add(&families->eta, shared, gpu.eta);
}

}  // namespace

std::vector<MetricFamily> JobMetrics::Collect() const {
  Families families;
  for (const GpuView& view : look_()) {
    const GpuFigures gpu = FiguresOf(view);
    for (const ClientFigures& client : gpu.clients) AddClient(client, gpu, &families);
    Add(&families.busy, {{"gpu_uuid", view.uuid}}, gpu.busy);
  }
  std::vector<MetricFamily> collected;
  for (MetricFamily* family :
       {&families.step_shared, &families.step_alone, &families.step_alone_age, &families.compute,
        &families.input_wait, &families.communication, &families.exposed, &families.slowdown, &families.gain,
        &families.gain_error, &families.gain_uncertain, &families.eta, &families.busy})
    collected.push_back(std::move(*family));
  return collected;
}

}  // namespace crossover::deviceplugin
