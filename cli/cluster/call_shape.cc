#include "cli/cluster/call_shape.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

using kube::At;
using Pods = std::set<int>;

// The CustomResourceDefinition of JobProfile has the same limits.
constexpr std::int64_t kMostPods = 16'384;
constexpr std::size_t kMostGroups = 256, kMostMembers = 16'384;
constexpr std::int64_t kEnoughRuns = 2;
// A line lists at most this many calls, and of each call at most this many groups.
constexpr std::size_t kMostCalls = 6, kMostListed = 4;

struct Group {
  std::string function;
  std::vector<int> members;
  double bytes = 0;

  bool sends() const { return function == "Send"; }
  Pods pods() const { return {members.begin(), members.end()}; }
};

// Returns the whole number, or -1 if the value is no whole number from 0 to `most`.
std::int64_t WholeAt(const json& value, std::int64_t most) {
  if (!value.is_number_integer()) return -1;
  const auto whole = value.get<std::int64_t>();
  return whole >= 0 && whole <= most ? whole : -1;
}

std::optional<Group> GroupOf(const json& object, std::int64_t pods) {
  const json& bytes = At(object, "bytes");
  Group group{.function = TextAt(object, {"function"}), .members = {}};
  if (group.function.empty() || !bytes.is_number() || !(bytes.get<double>() > 0)) return std::nullopt;
  group.bytes = bytes.get<double>();
  for (const json& each : ListAt(object, {"members"})) {
    const std::int64_t member = WholeAt(each, pods - 1);
    if (member < 0) return std::nullopt;
    group.members.push_back(static_cast<int>(member));
  }
  const bool sound = group.sends() ? group.members.size() == 2 : group.members.size() >= 2;
  if (!sound) return std::nullopt;
  return group;
}

// Returns the groups, or none if a part of the communication is malformed.
std::vector<Group> GroupsOf(const json& communication) {
  const std::int64_t pods = WholeAt(At(communication, "pods"), kMostPods);
  const json& listed = ListAt(communication, {"groups"});
  if (pods < 1 || listed.size() > kMostGroups) return {};
  std::vector<Group> groups;
  std::size_t members = 0;
  for (const json& each : listed) {
    auto group = GroupOf(each, pods);
    if (!group || (members += group->members.size()) > kMostMembers) return {};
    groups.push_back(*std::move(group));
  }
  return groups;
}

// A Family has sets of pods that are disjoint and of equal size.
struct Family {
  bool is_pipeline = false;
  std::vector<Pods> sets{};

  std::size_t size() const { return sets.front().size(); }  // of each set
  bool Covers(std::size_t pods) const { return sets.size() * size() == pods; }
  bool Takes(const Pods& other) const {
    return other.size() == size() && std::ranges::none_of(sets, [&other](const Pods& set) {
             return std::ranges::any_of(set, [&other](int pod) { return other.contains(pod); });
           });
  }
};

// Returns the families of collective calls. A set comes into the first family that takes it.
std::vector<Family> FamiliesOf(const std::vector<Group>& groups) {
  std::set<Pods> sets;
  for (const Group& group : groups) {
    if (!group.sends() && group.pods().size() >= 2) sets.insert(group.pods());
  }
  std::vector<Family> families;
  for (const Pods& set : sets) {
    const auto takes = [&set](const Family& family) { return family.Takes(set); };
    const auto family = std::ranges::find_if(families, takes);
    if (family != families.end())
      family->sets.push_back(set);
    else
      families.push_back({.sets = {set}});
  }
  return families;
}

using Neighbours = std::map<int, Pods>;

// Returns the pods that are connected with this one, and takes them out of `rest`.
Pods TakeConnected(int pod, const Neighbours& all, Neighbours* rest) {
  Pods connected = {pod};
  std::vector<int> todo = {pod};
  while (!todo.empty()) {
    const int next = todo.back();
    todo.pop_back();
    rest->erase(next);
    for (const int other : all.at(next)) {
      if (connected.insert(other).second) todo.push_back(other);
    }
  }
  return connected;
}

// Returns the pipelines that the pods form which send to each other, if they form pipelines of equal length.
std::optional<Family> PipelinesOf(const std::vector<Group>& groups) {
  Neighbours all;
  for (const Group& group : groups) {
    const int from = group.members.front(), to = group.members.back();
    if (!group.sends() || from == to) continue;
    all[from].insert(to);
    all[to].insert(from);
  }
  constexpr std::size_t kInAChain = 2;
  const auto branches = [](const auto& entry) { return entry.second.size() > kInAChain; };
  if (all.empty() || std::ranges::any_of(all, branches)) return std::nullopt;
  Family pipelines{.is_pipeline = true};
  Neighbours rest = all;
  while (!rest.empty()) {
    const Pods chain = TakeConnected(rest.begin()->first, all, &rest);
    if (!pipelines.sets.empty() && !pipelines.Takes(chain)) return std::nullopt;
    pipelines.sets.push_back(chain);
  }
  return pipelines;
}

// Returns whether each set of one family has exactly one pod of each set of the other.
bool Cross(const Family& a, const Family& b) {
  if (a.sets.size() < 2 || b.sets.size() < 2 || a.sets.size() != b.size() || b.sets.size() != a.size())
    return false;
  return std::ranges::all_of(a.sets, [&b](const Pods& one) {
    return std::ranges::all_of(b.sets, [&one](const Pods& other) {
      return std::ranges::count_if(one, [&other](int pod) { return other.contains(pod); }) == 1;
    });
  });
}

std::string NameOfFamily(const Family& family, std::size_t pods) {
  const std::string count = std::to_string(family.sets.size()), size = std::to_string(family.size());
  const bool one = family.sets.size() == 1;
  if (!family.Covers(pods)) return "";
  if (family.is_pipeline) return (one ? "pipeline of " : count + " pipelines of ") + size + " stages";
  return one ? "data parallel" : count + " groups of " + size;
}

std::string Listed(const std::vector<std::string>& texts, const char* between, std::size_t most) {
  std::string listed;
  for (std::size_t i = 0; i < std::min(texts.size(), most); ++i) listed += (i == 0 ? "" : between) + texts[i];
  if (texts.size() > most) listed += " and " + std::to_string(texts.size() - most) + " more";
  return listed;
}

// Returns the pods as ranges: 0-3,6.
std::string Ranges(const Pods& pods) {
  std::string text;
  for (auto first = pods.begin(); first != pods.end();) {
    auto last = first;
    while (std::next(last) != pods.end() && *std::next(last) == *last + 1) ++last;
    text += (text.empty() ? "" : ",") + std::to_string(*first);
    if (last != first) text += "-" + std::to_string(*last);
    first = std::next(last);
  }
  return text;
}

std::string Size(double bytes) {
  constexpr std::array<const char*, 4> kUnits = {" KiB", " MiB", " GiB", " TiB"};
  constexpr double kStep = 1024;
  if (bytes < kStep) return Number(bytes, 0) + " bytes";
  std::size_t unit = 0;
  for (bytes /= kStep; bytes >= kStep && unit + 1 < kUnits.size(); bytes /= kStep) ++unit;
  return Number(bytes, 1) + kUnits[unit];
}

// Returns the calls, the largest first. Groups that make the same call stand together.
std::string CallsText(const std::vector<Group>& groups) {
  std::map<std::pair<double, std::string>, std::vector<std::string>, std::greater<>> calls;
  for (const Group& group : groups) {
    const std::string pods =
        group.sends() ? std::to_string(group.members.front()) + " -> " + std::to_string(group.members.back())
                      : Ranges(group.pods());
    calls[{group.bytes, group.function}].push_back(pods);
  }
  std::vector<std::string> texts;
  for (const auto& [call, pods] : calls) {
    const bool sends = call.second == "Send";
    texts.push_back(call.second + " of " + Size(call.first) + (sends ? " " : " over pods ") +
                    Listed(pods, sends ? ", " : " / ", kMostListed));
  }
  return Listed(texts, "; ", kMostCalls);
}

}  // namespace

std::string ShapeOf(const json& communication) {
  const std::vector<Group> groups = GroupsOf(communication);
  const auto pods =
      static_cast<std::size_t>(std::max<std::int64_t>(WholeAt(At(communication, "pods"), kMostPods), 0));
  std::vector<Family> families = FamiliesOf(groups);
  if (auto pipelines = PipelinesOf(groups)) families.push_back(*std::move(pipelines));
  for (const Family& a : families) {
    for (const Family& b : families) {
      if (a.Covers(pods) && b.Covers(pods) && Cross(a, b))
        return "grid " + std::to_string(a.sets.size()) + " x " + std::to_string(a.size());
    }
  }
  std::vector<std::string> names;
  for (const Family& family : families) {
    const std::string name = NameOfFamily(family, pods);
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return Listed(names, ", ", kMostListed);
}

std::string CommunicationText(const json& communication) {
  const std::vector<Group> groups = GroupsOf(communication);
  const json& told = At(communication, "runs");
  const std::int64_t runs = told.is_number_integer() ? told.get<std::int64_t>() : 0;
  if (groups.empty() || runs < 1) return "";
  const std::string shape = ShapeOf(communication);
  return "  communication, in " + std::to_string(runs) + (runs == 1 ? " run" : " runs") +
         (shape.empty() ? "" : " (" + shape + ")") + ": " + CallsText(groups) +
         (runs >= kEnoughRuns ? "; pods are placed by it" : "; seen in one run, used once two runs agree") +
         "\n";
}

}  // namespace crossover::cli
