#include "extender/gang/reservation.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/names.h"
#include "common/kube/json.h"

namespace crossover::extender {
namespace {

using kube::At;
using kube::Text;
using nlohmann::json;

constexpr std::int64_t kMostPods = 1'000'000;  // what crossover.dev/gang-size may say

std::optional<Left> LeftIn(const json& said) {
  const json& at = At(said, "at");
  const json& gangs = At(said, "gangs");
  if (!at.is_number() || !gangs.is_object()) return std::nullopt;
  Left left{.at_s = at.get<double>(), .gangs = {}};
  for (const auto& [key, gang] : gangs.items()) {
    const json& since = At(gang, "since");
    std::string mark = Text(At(gang, "mark"));
    if (!mark.empty() && since.is_number())
      left.gangs[key] = {.mark = std::move(mark), .since_s = since.get<double>()};
  }
  return left;
}

}  // namespace

std::vector<std::string> PodSeat::gpus() const {
  std::set<std::string> all;
  for (const auto& [name, gpus] : containers) all.insert(gpus.begin(), gpus.end());
  return {all.begin(), all.end()};
}

std::string WriteReservation(const Reservation& reservation) {
  json text = {{reservation.claims ? "claim" : "plan", reservation.plan},
               {"node", reservation.seat.node},
               {"containers", reservation.seat.containers},
               {"until", reservation.until_s}};
  if (reservation.again) text["again"] = *reservation.again;
  if (reservation.size > 0) text["size"] = reservation.size;
  if (reservation.left) {
    json gangs = json::object();
    for (const auto& [key, gang] : reservation.left->gangs)
      gangs[key] = {{"mark", gang.mark}, {"since", gang.since_s}};
    text["left"] = {{"at", reservation.left->at_s}, {"gangs", std::move(gangs)}};
  }
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
  if (reservation.plan.empty()) {
    reservation.plan = Text(At(parsed, "claim"));
    reservation.claims = true;
  }
  reservation.left = LeftIn(At(parsed, "left"));
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
