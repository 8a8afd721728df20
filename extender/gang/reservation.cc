#include "extender/gang/reservation.h"

#include <algorithm>
#include <set>

#include "common/base/names.h"
#include "common/kube/json.h"

namespace crossover::extender {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

constexpr std::int64_t kMostPods = 1'000'000;  // what crossover.dev/gang-size may say

}  // namespace

std::vector<std::string> PodSeat::gpus() const {
  std::set<std::string> all;
  for (const auto& [name, gpus] : containers) all.insert(gpus.begin(), gpus.end());
  return {all.begin(), all.end()};
}

std::string WriteReservation(const Reservation& reservation) {
  json text = {{"plan", reservation.plan},
               {"node", reservation.seat.node},
               {"containers", reservation.seat.containers},
               {"until", reservation.until_s}};
  if (reservation.again) text["again"] = *reservation.again;
  if (reservation.size > 0) text["size"] = reservation.size;
  return kube::Dump(text);
}

std::optional<Reservation> ReadReservation(const std::string& text) {
  const json parsed = json::parse(text, nullptr, false);
  Reservation reservation{
      .plan = Text(At(parsed, "plan")),
      .seat = {.node = Text(At(parsed, "node")), .containers = annotations::ContainersIn(parsed)},
      .until_s = 0};
  const json& until = At(parsed, "until");
  if (until.is_number()) reservation.until_s = until.get<double>();
  const json& size = At(parsed, "size");
  if (size.is_number_integer())
    reservation.size = static_cast<int>(std::clamp<std::int64_t>(size.get<std::int64_t>(), 0, kMostPods));
  const json& again = At(parsed, "again");
  reservation.again = again.is_boolean() ? std::optional<bool>(again.get<bool>()) : std::nullopt;
  if (reservation.plan.empty() || reservation.seat.node.empty() || reservation.seat.containers.empty()) {
    return std::nullopt;
  }
  return reservation;
}

std::optional<Reservation> ReservationOn(const Pod& pod) {
  const auto found = pod.annotations.find(base::kReservationAnnotation);
  return found == pod.annotations.end() ? std::nullopt : ReadReservation(found->second);
}

}  // namespace crossover::extender
