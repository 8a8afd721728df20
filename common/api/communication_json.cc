#include "common/api/communication_json.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/api/fields.h"
#include "common/base/hash.h"
#include "common/kube/timestamp.h"
#include "common/text/number.h"

namespace crossover::api {
namespace {

using kube::At;
using nlohmann::json;

constexpr std::uint64_t kMostCountedRuns = 1'000'000;
constexpr std::size_t kDigitsOfCommunicator = 16;

// Returns the value as a whole number if it is one from `least` to `most`.
std::optional<std::uint64_t> WholeWithin(const json& value, std::uint64_t least, std::uint64_t most) {
  if (!value.is_number_integer()) return std::nullopt;
  if (!value.is_number_unsigned() && value.get<std::int64_t>() < 0) return std::nullopt;
  const auto whole = value.get<std::uint64_t>();
  if (whole < least || whole > most) return std::nullopt;
  return whole;
}

std::optional<std::uint64_t> CommunicatorIn(const json& object) {
  const std::string text = TextIn(object, "communicator");
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (text.size() != kDigitsOfCommunicator || !std::ranges::all_of(text, is_digit)) return std::nullopt;
  std::uint64_t communicator = 0;
  std::from_chars(text.data(), text.data() + text.size(), communicator, 16);
  return communicator;
}

std::optional<NcclCall> CallOf(const json& object) {
  NcclCall call{.pod = TextIn(object, "pod")};
  const auto communicator = CommunicatorIn(object);
  const auto size = WholeWithin(At(object, "size"), 2, kMostRanks);
  const auto rank = WholeWithin(At(object, "rank"), 0, size.value_or(1) - 1);
  const auto function = FunctionNamed(TextIn(object, "function"));
  const auto bytes = WholeWithin(At(object, "bytes"), 0, kMostCallBytes);
  if (call.pod.empty() || !communicator || !size || !rank || !function || !bytes) return std::nullopt;
  call.communicator = *communicator;
  call.size = static_cast<int>(*size);
  call.rank = static_cast<int>(*rank);
  call.function = *function;
  call.bytes = *bytes;
  if (!HasRoot(*function) && !IsBetweenTwo(*function)) return call;
  const auto peer = WholeWithin(At(object, "peer"), 0, *size - 1);
  if (!peer) return std::nullopt;
  call.peer = static_cast<int>(*peer);
  return call;
}

std::optional<CallGroup> GroupOf(const json& object, int pods) {
  const auto function = FunctionNamed(TextIn(object, "function"));
  const auto bytes = WholeWithin(At(object, "bytes"), 1, kMostCallBytes);
  const json& members = At(object, "members");
  if (!function || *function == NcclFunction::kRecv || !bytes || !members.is_array() || members.size() < 2 ||
      members.size() > kMostMembers || (IsBetweenTwo(*function) && members.size() != 2))
    return std::nullopt;
  CallGroup group{.function = *function, .members = {}, .bytes = *bytes};
  for (const json& each : members) {
    const auto member = WholeWithin(each, 0, static_cast<std::uint64_t>(pods - 1));
    if (!member) return std::nullopt;
    group.members.push_back(static_cast<int>(*member));
  }
  return group;
}

// Returns the compute of each pod, or nothing if that of one is missing or cannot be.
std::vector<double> ComputesOf(const json& listed, int pods) {
  constexpr double kMostSeconds = 3600;
  std::vector<double> computes;
  if (!listed.is_array() || listed.size() != static_cast<std::size_t>(pods)) return computes;
  for (const json& each : listed) {
    const double seconds = each.is_number() ? each.get<double>() : 0;
    if (!(seconds > 0) || seconds > kMostSeconds) return {};
    computes.push_back(seconds);
  }
  return computes;
}

}  // namespace

std::vector<NcclCall> CallsOf(const json& job) {
  std::vector<NcclCall> calls;
  const json& listed = At(job, "communication");
  if (!listed.is_array() || listed.size() > kMostCallsOfJob) return calls;
  for (const json& each : listed) {
    if (auto call = CallOf(each)) calls.push_back(*std::move(call));
  }
  return calls;
}

Communication CommunicationOf(const json& status) {
  const json& object = At(status, "communication");
  const auto pods = WholeWithin(At(object, "pods"), 1, kMostMembers);
  const auto runs = WholeWithin(At(object, "runs"), 1, kMostCountedRuns);
  const json& groups = At(object, "groups");
  if (!pods || !runs || !groups.is_array() || groups.empty() || groups.size() > kMostCallGroups) return {};
  Communication communication{.pods = static_cast<int>(*pods),
                              .runs = static_cast<int>(*runs),
                              .gang = TextIn(object, "gang"),
                              .began_s = TimeIn(object, "beganAt"),
                              .groups = {}};
  communication.compute_s = ComputesOf(At(object, "computeSeconds"), communication.pods);
  std::size_t members = 0;
  for (const json& each : groups) {
    auto group = GroupOf(each, communication.pods);
    if (!group || (members += group->members.size()) > kMostMembers) return {};
    communication.groups.push_back(*std::move(group));
  }
  return communication;
}

json WriteCommunication(const Communication& communication) {
  json groups = json::array();
  for (const CallGroup& group : communication.groups) {
    groups.push_back(
        {{"function", NameOf(group.function)}, {"members", group.members}, {"bytes", group.bytes}});
  }
  json object = {{"pods", communication.pods},
                 {"runs", communication.runs},
                 {"gang", communication.gang},
                 {"beganAt", kube::WriteTimestamp(communication.began_s)},
                 {"groups", groups}};
  for (const double seconds : communication.compute_s)
    object["computeSeconds"].push_back(text::ToFourFigures(seconds));
  return object;
}

json WriteCall(const NcclCall& call) {
  json object = {{"pod", call.pod},     {"communicator", base::HexOf(call.communicator).data()},
                 {"size", call.size},   {"rank", call.rank},
                 {"bytes", call.bytes}, {"function", NameOf(call.function)}};
  if (call.peer) object["peer"] = *call.peer;
  return object;
}

}  // namespace crossover::api
