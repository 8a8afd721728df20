#include "extender/gang/reservation.h"

#include <set>

#include "common/kube/json.h"

namespace crossover::extender {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

ByContainer ContainersIn(const json& object) {
  ByContainer containers;
  const json& named = At(object, "containers");
  if (!named.is_object()) return containers;
  for (const auto& [name, gpus] : named.items()) {
    if (!gpus.is_array()) continue;
    for (const json& gpu : gpus) {
      if (gpu.is_string()) containers[name].push_back(gpu.get<std::string>());
    }
  }
  return containers;
}

// A name that is no UTF-8 does not throw.
std::string Dump(const json& object) { return object.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace

std::vector<std::string> PodSeat::gpus() const {
  std::set<std::string> all;
  for (const auto& [name, gpus] : containers) all.insert(gpus.begin(), gpus.end());
  return {all.begin(), all.end()};
}

std::string WriteReservation(const Reservation& reservation) {
  return Dump({{"plan", reservation.plan},
               {"node", reservation.seat.node},
               {"containers", reservation.seat.containers},
               {"until", reservation.until_s}});
}

std::optional<Reservation> ReadReservation(const std::string& text) {
  const json parsed = json::parse(text, nullptr, false);
  Reservation reservation{.plan = Text(At(parsed, "plan")),
                          .seat = {.node = Text(At(parsed, "node")), .containers = ContainersIn(parsed)},
                          .until_s = 0};
  const json& until = At(parsed, "until");
  if (until.is_number()) reservation.until_s = until.get<double>();
  if (reservation.plan.empty() || reservation.seat.node.empty() || reservation.seat.containers.empty()) {
    return std::nullopt;
  }
  return reservation;
}

std::string WriteAssignment(const ByContainer& containers) { return Dump({{"containers", containers}}); }

ByContainer ReadAssignment(const std::string& text) {
  return ContainersIn(json::parse(text, nullptr, false));
}

}  // namespace crossover::extender
