#include "deviceplugin/metrics/sharing_figures.h"

#include <algorithm>
#include <set>

#include "deviceplugin/metrics/seconds.h"

namespace crossover::deviceplugin {
namespace {

bool Estimated(const ClientView& client) {
  return client.alone && client.alone->source == StepAlone::Source::kEstimated;
}

// Returns the time away from the GPU in an iteration. Gaps beside other jobs are shorter or longer than gaps
// alone, so this prefers a step that was measured alone.
std::optional<Sourced> Away(const ClientView& client) {
  if (!client.compute) return std::nullopt;
  if (client.alone && !Estimated(client))
    return Sourced{Seconds(std::max<turn::Time>(0, client.alone->each - *client.compute)), false};
  return Sourced{Seconds(*client.away), true};
}

std::string PeersOf(const ClientView& client, const GpuView& view) {
  std::set<std::string> gangs;
  for (const ClientView& other : view.clients) {
    if (other.member->id != client.member->id) gangs.insert(other.member->gang);
  }
  std::string peers;
  for (const std::string& gang : gangs) peers += (peers.empty() ? "" : ",") + gang;
  return peers;
}

ClientFigures FiguresOf(const ClientView& client, const GpuView& view) {
  ClientFigures figures;
  figures.client = &client;
  figures.peers = PeersOf(client, view);
  if (client.shares && client.present_step) figures.step_shared_s = Seconds(*client.present_step);
  if (client.alone) {
    figures.step_alone_s = Sourced{Seconds(client.alone->each), Estimated(client)};
    figures.step_alone_age_s = Seconds(client.alone->age);
  }
  if (client.compute) figures.compute_s = Seconds(*client.compute);
  if (const auto away = Away(client)) {
    const double input_s = std::min(Seconds(client.input_wait.value_or(0)), away->value);
    const double communication_s = away->value - input_s, step_s = *figures.compute_s + away->value;
    if (client.input_wait) figures.input_wait_s = input_s;
    figures.communication_s = Sourced{communication_s, away->estimated};
    if (step_s > 0) figures.exposed_ratio = Sourced{communication_s / step_s, away->estimated};
  }
  if (client.slowdown) figures.slowdown = Sourced{*client.slowdown, Estimated(client)};
  return figures;
}

// Returns the sum of the parts of the time for which each client computes. It is above 1 if they compute at
// the same time.
std::optional<double> Computing(const std::vector<ClientView>& clients) {
  double sum = 0;
  for (const ClientView& client : clients) {
    if (!client.compute || !client.present_step || *client.present_step <= 0) return std::nullopt;
    sum += Seconds(*client.compute) / Seconds(*client.present_step);
  }
  return clients.empty() ? std::nullopt : std::optional(sum);
}

}  // namespace

GpuFigures FiguresOf(const GpuView& view) {
  GpuFigures figures;
  for (const ClientView& client : view.clients) figures.clients.push_back(FiguresOf(client, view));
  const std::optional<double> computing = Computing(view.clients);
  if (computing) figures.busy = std::min(1.0, *computing);
  if (!view.gain) return figures;
  const bool estimated = std::any_of(view.clients.begin(), view.clients.end(), Estimated);
  figures.gain = Sourced{*view.gain, estimated};
  figures.gain_error = view.gain_error;
  figures.gain_uncertain = view.gain_uncertain() ? 1 : 0;
  if (!computing) return figures;
  double fastest = 0;  // of all jobs, relative to their speed alone
  for (const ClientView& client : view.clients) fastest = std::max(fastest, 1 / *client.slowdown);
  figures.eta = Sourced{std::max(*computing, fastest), estimated};
  return figures;
}

}  // namespace crossover::deviceplugin
