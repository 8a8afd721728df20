#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "cli/cluster/advise.h"
#include "cli/cluster/objects.h"
#include "cli/cluster/pairs.h"
#include "cli/cluster/runs.h"
#include "cli/render/table.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

// Returns the latest run of each gang since `since_s`, if the run has a `part`. The costliest comes first.
template <class Part>
std::vector<const Run*> LatestWith(std::optional<Part> Run::*part, const RunsByStart& told, double since_s) {
  std::map<std::string, const Run*> latest;
  for (const auto& [start, run] : told) {
    const Run*& known = latest[run.gang];
    if (run.ended > since_s && (known == nullptr || run.ended > known->ended)) known = &run;
  }
  std::vector<const Run*> with;
  for (const auto& [gang, run] : latest) {
    if (run != nullptr && run->*part) with.push_back(run);
  }
  std::ranges::stable_sort(with, std::greater(), [part](const Run* run) { return (run->*part)->cost; });
  return with;
}

json InputWaitsOf(const RunsByStart& told, double since_s) {
  json waits = json::array();
  for (const Run* run : LatestWith(&Run::input, told, since_s)) {
    waits.push_back({{"gang", run->gang},
                     {"pod", run->input->pod},
                     {"node", run->input->node},
                     {"seconds", run->input->seconds},
                     {"partOfStep", run->input->cost},
                     {"lastSeen", run->last_seen}});
  }
  return waits;
}

json SlowRanksOf(const RunsByStart& told, double since_s) {
  json ranks = json::array();
  for (const Run* run : LatestWith(&Run::slow, told, since_s)) {
    ranks.push_back({{"gang", run->gang},
                     {"pod", run->slow->pod},
                     {"node", run->slow->node},
                     {"since", run->slow->since},
                     {"computeSeconds", run->slow->compute_s},
                     {"medianSeconds", run->slow->median_s},
                     {"partOfStep", run->slow->cost},
                     {"lastSeen", run->last_seen}});
  }
  return ranks;
}

json AdviceOf(const std::string& name_space, const std::vector<Run>& runs) {
  double hours = 0, known = 0, saved = 0;
  for (const Run& run : runs) {
    hours += run.gpu_hours();
    known += run.use.gpu > 0 ? run.gpu_hours() : 0;
  }
  json pairs = json::array(), unpaired = json::array();
  const std::vector<Pair> best = BestPairs(runs);
  for (const Pair& pair : best) {
    saved += pair.saved_hours;
    const Run &a = runs[pair.a], &b = runs[pair.b];
    pairs.push_back({{"gangs", json::array({a.gang, b.gang})},
                     {"gain", pair.gain},
                     {"savedGPUHours", pair.saved_hours},
                     {"lastSeen", a.ended < b.ended ? a.last_seen : b.last_seen}});
  }
  for (const Unpaired& run : UnpairedOf(runs, best))
    unpaired.push_back({{"gang", run.gang}, {"why", run.why}});
  return {{"namespace", name_space}, {"gpuHours", hours}, {"knownGPUHours", known},
          {"savedGPUHours", saved},  {"pairs", pairs},    {"unpaired", unpaired}};
}

std::string PairText(const json& entry) {
  std::string text;
  for (const json& pair : ListAt(entry, {"pairs"})) {
    const json& gangs = ListAt(pair, {"gangs"});
    text += kube::Text(gangs[0]) + " and " + kube::Text(gangs[1]) + ": " + Number(NumberAt(pair, "gain"), 2) +
            "x, " + Number(NumberAt(pair, "savedGPUHours"), 1) + " GPU hours, last seen at " +
            TextAt(pair, {"lastSeen"}) + "\n";
  }
  return text;
}

std::string UnpairedText(const json& entry) {
  std::string text;
  for (const json& run : ListAt(entry, {"unpaired"})) {
    text += TextAt(run, {"gang"}) + ": " + TextAt(run, {"why"}) + ".\n";
  }
  return text;
}

std::string SlowText(const json& entry) {
  std::string text;
  for (const json& slow : ListAt(entry, {"slowRanks"})) {
    const double cost = NumberAt(slow, "partOfStep");
    text += TextAt(slow, {"gang"}) + ": pod " + TextAt(slow, {"pod"}) + " on node " + TextAt(slow, {"node"}) +
            " computes for " + InMs(slow, "computeSeconds") +
            " ms in an iteration, and half of the ranks for " + InMs(slow, "medianSeconds") +
            " ms at most, since " + TextAt(slow, {"since"}) + ". It costs " +
            (cost < 0.01 ? "less than 1" : Number(1e2 * cost, 0)) + "% of each step of all ranks." +
            LastSeen(slow) + "\n";
  }
  return text;
}

std::string InputText(const json& entry) {
  std::string text;
  for (const json& wait : ListAt(entry, {"inputWaits"})) {
    text += TextAt(wait, {"gang"}) + ": pod " + TextAt(wait, {"pod"}) + " on node " + TextAt(wait, {"node"}) +
            " launches nothing for " + InMs(wait, "seconds") +
            " ms of an iteration: it waits for input, or computes on the host. It costs up to " +
            Number(1e2 * NumberAt(wait, "partOfStep"), 0) + "% of each step of all ranks." + LastSeen(wait) +
            "\n";
  }
  return text;
}

}  // namespace

json AdviceOf(const json& profiles, double since_s, double link_bytes_per_s) {
  json advice = json::array();
  for (const auto& [name_space, told] : RunsToldOf(ParsedProfiles(profiles), link_bytes_per_s)) {
    const std::vector<Run> runs = RunsAlone(told, since_s);
    json slow = SlowRanksOf(told, since_s), input = InputWaitsOf(told, since_s);
    if (runs.empty() && slow.empty() && input.empty()) continue;
    advice.push_back(AdviceOf(name_space, runs));
    advice.back()["slowRanks"] = std::move(slow);
    advice.back()["inputWaits"] = std::move(input);
  }
  return {{"namespaces", advice}};
}

double UsualLink(const json& gpu_nodes) {
  std::vector<double> links;
  for (const api::GpuNode& node : ParsedGpuNodes(gpu_nodes)) {
    if (node.link_bytes_per_s > 0) links.push_back(node.link_bytes_per_s);
  }
  return gains::UsualLink(std::move(links));
}

std::string AdviceText(const json& advice, bool wide) {
  std::vector<std::vector<std::string>> rows = {{"NAMESPACE", "GPU HOURS", "KNOWN", "SAVED"}};
  std::string pairs, unpaired, slow, input;
  double unknown = 0;
  for (const json& entry : ListAt(advice, {"namespaces"})) {
    const double hours = NumberAt(entry, "gpuHours"), known = NumberAt(entry, "knownGPUHours");
    unknown += hours - known;
    rows.push_back({TextAt(entry, {"namespace"}), Number(hours, 1), Number(known, 1),
                    Number(NumberAt(entry, "savedGPUHours"), 1)});
    slow += SlowText(entry);
    input += InputText(entry);
    pairs += PairText(entry);
    unpaired += UnpairedText(entry);
  }
  if (rows.size() == 1)
    return "no JobProfile has a run of these days that shared with no other job, had a slow rank or waited "
           "for input: --days looks further back\n";
  std::string text = Columns(rows);
  if (unknown > 0.05)
    text +=
        "\nThe needs of the jobs that KNOWN leaves out were not measured, as these jobs took no turns, or "
        "too few: while they run, crossover top on their nodes and the metric "
        "crossover_client_watched_only say why. Let them take turns, or set computeSeconds and "
        "exposedSeconds in the spec of their JobProfiles.\n";
  if (!slow.empty()) text += "\nSlow ranks:\n" + slow;
  if (!input.empty()) text += "\nRanks that wait for input:\n" + input;
  if (wide && !pairs.empty()) text += "\nJobs that gain together:\n" + pairs;
  if (wide && !unpaired.empty()) text += "\nJobs that are in no pair:\n" + unpaired;
  return text;
}

}  // namespace crossover::cli
