// placement_mapping < CASES
// Maps the pods of gangs to their seats. Each line of the input is a case in JSON, as a Workload and a Fabric
// (extender/placement/mapping.h):
//
//   {"pods": 2, "flows": [[0, 1, 4096]], "compute_s": [], "domains": [[0, 0], [0, 1]], "speeds": [],
//    "seat_speeds": []}
//
// In place of flows it may have what pods call, as a JobProfile has it (extender/profiles/flows.h):
//
//   "groups": [{"function": "AllReduce", "members": [0, 1], "bytes": 4096}]
//
// Each line of the output has the seat of each pod, and how long the search took. A case with calls may ask
// for the times of the nodes' uplinks, too (extender/profiles/uplinks.h): "link" is the speed of each.
// "uplink" has them then, with pod i on seat i and at best.
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "extender/placement/mapping.h"
#include "extender/profiles/flows.h"
#include "extender/profiles/uplinks.h"

namespace crossover::benchmarks {
namespace {

using nlohmann::json;

std::vector<extender::CallGroup> Groups(const json& asked) {
  std::vector<extender::CallGroup> groups;
  for (const json& group : asked.value("groups", json::array())) {
    groups.push_back({.function = extender::FunctionNamed(group.at("function").get<std::string>()).value(),
                      .members = group.at("members").get<std::vector<int>>(),
                      .bytes = group.at("bytes").get<std::uint64_t>()});
  }
  return groups;
}

std::vector<placement::Flow> Flows(const json& asked) {
  std::vector<placement::Flow> flows;
  for (const json& flow : asked.value("flows", json::array())) {
    flows.push_back({.from = flow.at(0).get<int>(),
                     .to = flow.at(1).get<int>(),
                     .bytes = flow.at(2).get<placement::Bytes>()});
  }
  if (const auto groups = Groups(asked); !groups.empty()) flows = extender::FlowsOf(groups).value();
  return flows;
}

// Returns where the seats are: the last level of domains is that of the nodes.
std::vector<placement::SeatPlace> Seats(const json& asked) {
  const json& domains = asked.at("domains");
  std::vector<placement::SeatPlace> seats(
      domains.at(0).size(), {.domains = {}, .node = "", .link = asked.at("link").get<double>()});
  for (std::size_t seat = 0; seat < seats.size(); ++seat) {
    for (const json& level : domains) seats[seat].domains.push_back(level.at(seat).dump());
    seats[seat].node = seats[seat].domains.back();
    seats[seat].domains.pop_back();
  }
  return seats;
}

json Answer(const json& asked) {
  placement::Workload workload{.pods = asked.at("pods").get<int>(), .flows = Flows(asked)};
  asked.at("compute_s").get_to(workload.compute_s);
  placement::Fabric fabric;
  asked.at("domains").get_to(fabric.domains);
  asked.at("speeds").get_to(fabric.speeds);
  asked.at("seat_speeds").get_to(fabric.seat_speeds);
  const auto began = std::chrono::steady_clock::now();
  const std::vector<int> seat_of = placement::MapPods(workload, fabric);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - began;
  json answer = {{"seat_of", seat_of}, {"ms", took.count()}};
  if (asked.contains("link")) {
    const extender::Communication known{.pods = workload.pods, .groups = Groups(asked)};
    const auto times = extender::UplinkTimesOf(known, Seats(asked)).value();
    answer["uplink"] = {times.now_s, times.least_s};
  }
  return answer;
}

int Main() {
  try {
    for (std::string line; std::getline(std::cin, line);)
      std::cout << Answer(json::parse(line)).dump() << '\n';
  } catch (const std::exception& error) {
    std::cerr << "placement_mapping: expected a case in each line, got: " << error.what() << '\n';
    return 2;
  }
  return 0;
}

}  // namespace
}  // namespace crossover::benchmarks

int main() { return crossover::benchmarks::Main(); }
