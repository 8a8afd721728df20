#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "cli/cluster/advise.h"
#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/gains/balance.h"
#include "common/gains/turns.h"
#include "common/kube/json.h"
#include "common/kube/timestamp.h"

namespace crossover::cli {
namespace {

using kube::At;

constexpr double kHour = 3600;

// A SlowRank makes all other ranks of its run wait.
struct SlowRank {
  std::string pod, node, since;
  double compute_s = 0, median_s = 0;
  double cost = 0;  // part of a step by which it would be shorter
};

// A LongInput is of the rank of a run that waits longest for its input.
struct LongInput {
  std::string pod, node;
  double seconds = 0;
  double cost = 0;  // part of a step by which it would be shorter
};

struct Run {
  std::string gang;
  std::int64_t gpus = 0;
  double began = 0, ended = 0;
  gains::Use use{};  // `gpu` is 0 if its needs are not known
  bool shared = false;
  std::optional<SlowRank> slow{};
  std::optional<LongInput> input{};
  double gpu_hours() const { return static_cast<double>(gpus) * (ended - began) / kHour; }
};

// Returns which share of the time the run needs the GPU and, if it is on several nodes, the link; 0 for what
// is not known. Uses the run's own times, else those of the profile's runs, else those that a user wrote into
// the spec.
gains::Use UseOf(const json& run, const json& profile, double link_bytes_per_s) {
  for (const json* figures : {&run, &At(profile, "status"), &At(profile, "spec")}) {
    const double compute = NumberAt(*figures, "computeSeconds"), away = NumberAt(*figures, "exposedSeconds");
    if (compute <= 0 || away < 0) continue;
    gains::Use use{.gpu = compute / (compute + away)};
    if (link_bytes_per_s > 0 && CountAt(run, {}, "nodes") > 1) {
      const auto bytes = static_cast<double>(CountAt(profile, {"status"}, "linkBytes"));
      use.link = std::min(1.0, bytes / link_bytes_per_s / (compute + away));
    }
    return use;
  }
  return {};
}

std::optional<SlowRank> SlowRankOf(const json& run) {
  const json& slowest = At(run, "slowest");
  SlowRank slow{.pod = TextAt(slowest, {"pod"}),
                .node = TextAt(slowest, {"node"}),
                .since = TextAt(slowest, {"since"}),
                .compute_s = NumberAt(slowest, "computeSeconds"),
                .median_s = NumberAt(run, "medianSeconds"),
                .cost = 0};
  const double step = NumberAt(run, "computeSeconds") + NumberAt(run, "exposedSeconds");
  if (slow.since.empty() || slow.median_s <= 0 || slow.compute_s <= slow.median_s || step <= 0)
    return std::nullopt;
  slow.cost = std::min(1.0, (slow.compute_s - slow.median_s) / step);
  return slow;
}

std::optional<LongInput> LongInputOf(const json& run) {
  const json& wait = At(run, "inputWait");
  LongInput input{.pod = TextAt(wait, {"pod"}),
                  .node = TextAt(wait, {"node"}),
                  .seconds = NumberAt(wait, "seconds"),
                  .cost = 0};
  const double step = NumberAt(run, "computeSeconds") + NumberAt(run, "exposedSeconds");
  if (input.pod.empty() || step <= 0 || input.seconds < gains::kWorth * step) return std::nullopt;
  input.cost = std::min(1.0, input.seconds / step);
  return input;
}

// Returns the gangs that are known to have shared a GPU with another gang.
std::set<std::string> GangsThatMet(const json& profiles) {
  std::set<std::string> met;
  for (const json& profile : profiles) {
    for (const json& meeting : ListAt(profile, {"status", "meetings"})) {
      for (const json& gain : ListAt(meeting, {"gains"})) {
        met.insert(TextAt(gain, {"gang"}));
        met.insert(TextAt(gain, {"otherGang"}));
      }
    }
  }
  return met;
}

// Returns whether the run shared. If the run does not say it, returns whether its gang ever shared, which may
// have been in another run.
bool HasShared(const json& run, const std::set<std::string>& met) {
  const json& says = At(run, "shared");
  return says.is_boolean() ? says.get<bool>() : met.contains(TextAt(run, {"gang"}));
}

// Merges two reports of one run. They come from two profiles, because the run's profile key changed. The
// report that saw the run last wins.
void Join(Run told, Run* run) {
  if (std::tie(run->ended, run->gpus) < std::tie(told.ended, told.gpus)) std::swap(told, *run);
  if (run->use.gpu <= 0) run->use = told.use;
  run->shared |= told.shared;
}

using RunsByStart = std::map<std::pair<std::string, double>, Run>;  // by gang and start

std::map<std::string, RunsByStart> RunsToldOf(const json& profiles, double link_bytes_per_s) {
  const std::set<std::string> met = GangsThatMet(profiles);
  std::map<std::string, RunsByStart> runs;
  for (const json& profile : profiles) {
    for (const json& object : ListAt(profile, {"status", "runs"})) {
      const auto began = kube::ParseTimestamp(TextAt(object, {"beganAt"}));
      const auto ended = kube::ParseTimestamp(TextAt(object, {"lastSeen"}));
      if (!began || !ended) continue;
      const Run run{.gang = TextAt(object, {"gang"}),
                    .gpus = CountAt(object, {}, "gpus"),
                    .began = *began,
                    .ended = *ended,
                    .use = UseOf(object, profile, link_bytes_per_s),
                    .shared = HasShared(object, met),
                    .slow = SlowRankOf(object),
                    .input = LongInputOf(object)};
      const auto [known, is_new] = runs[NamespaceOf(profile)].try_emplace({run.gang, *began}, run);
      if (!is_new) Join(run, &known->second);
    }
  }
  return runs;
}

// Returns the runs of a namespace since then that did not share. Runs that shared are left out: what they
// saved needs no advice.
std::vector<Run> RunsAlone(const RunsByStart& told, double since_s) {
  std::vector<Run> runs;
  for (auto [start, run] : told) {
    run.began = std::max(run.began, since_s);
    if (!run.shared && run.gpus > 0 && run.ended > run.began) runs.push_back(std::move(run));
  }
  return runs;
}

// Returns the latest run of each gang since then, where it has a `part`. The costliest comes first.
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
                     {"partOfStep", run->input->cost}});
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
                     {"partOfStep", run->slow->cost}});
  }
  return ranks;
}

struct Pair {
  std::size_t a = 0, b = 0;
  double gain = 0, saved_hours = 0;
};

std::optional<Pair> PairOf(const std::vector<Run>& runs, std::size_t a, std::size_t b) {
  const Run &first = runs[a], &second = runs[b];
  // A gang cannot share with itself: these are one run, for which two profiles report different starts.
  if (first.gang == second.gang) return std::nullopt;
  const double together = std::min(first.ended, second.ended) - std::max(first.began, second.began);
  const bool known = first.use.gpu > 0 && second.use.gpu > 0;
  if (first.gpus != second.gpus || !known || together <= 0) return std::nullopt;
  const std::array uses = {first.use, second.use};
  const double gain = gains::FairRates(uses, gains::kReached).Sum();
  if (gain < gains::kWorthSharing) return std::nullopt;
  const double hours = 2 * static_cast<double>(first.gpus) * together / kHour;
  return Pair{.a = a, .b = b, .gain = gain, .saved_hours = hours * (1 - 1 / gain)};
}

std::vector<Pair> BestPairs(const std::vector<Run>& runs) {
  std::vector<Pair> all, best;
  for (std::size_t a = 0; a < runs.size(); ++a) {
    for (std::size_t b = a + 1; b < runs.size(); ++b) {
      if (const auto pair = PairOf(runs, a, b)) all.push_back(*pair);
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Pair& x, const Pair& y) { return x.saved_hours > y.saved_hours; });
  std::set<std::size_t> taken;
  for (const Pair& pair : all) {
    if (taken.contains(pair.a) || taken.contains(pair.b)) continue;
    taken.insert({pair.a, pair.b});
    best.push_back(pair);
  }
  return best;
}

json AdviceOf(const std::string& name_space, const std::vector<Run>& runs) {
  double hours = 0, known = 0, saved = 0;
  for (const Run& run : runs) {
    hours += run.gpu_hours();
    known += run.use.gpu > 0 ? run.gpu_hours() : 0;
  }
  json pairs = json::array();
  for (const Pair& pair : BestPairs(runs)) {
    saved += pair.saved_hours;
    pairs.push_back({{"gangs", json::array({runs[pair.a].gang, runs[pair.b].gang})},
                     {"gain", pair.gain},
                     {"savedGPUHours", pair.saved_hours}});
  }
  return {{"namespace", name_space},
          {"gpuHours", hours},
          {"knownGPUHours", known},
          {"savedGPUHours", saved},
          {"pairs", pairs}};
}

std::string SlowText(const json& entry) {
  std::string text;
  for (const json& slow : ListAt(entry, {"slowRanks"})) {
    const double cost = NumberAt(slow, "partOfStep");
    text += TextAt(entry, {"namespace"}) + "/" + TextAt(slow, {"gang"}) + ": pod " + TextAt(slow, {"pod"}) +
            " on node " + TextAt(slow, {"node"}) + " computes for " + InMs(slow, "computeSeconds") +
            " ms in an iteration, and half of the ranks for " + InMs(slow, "medianSeconds") +
            " ms at most, since " + TextAt(slow, {"since"}) + ". It costs " + Number(1e2 * cost, 0) +
            "% of each step of all ranks.\n";
  }
  return text;
}

std::string InputText(const json& entry) {
  std::string text;
  for (const json& wait : ListAt(entry, {"inputWaits"})) {
    text += TextAt(entry, {"namespace"}) + "/" + TextAt(wait, {"gang"}) + ": pod " + TextAt(wait, {"pod"}) +
            " on node " + TextAt(wait, {"node"}) + " launches nothing for " + InMs(wait, "seconds") +
            " ms of an iteration, as it waits for input. It costs up to " +
            Number(1e2 * NumberAt(wait, "partOfStep"), 0) + "% of each step of all ranks.\n";
  }
  return text;
}

}  // namespace

json AdviceOf(const json& profiles, double since_s, double link_bytes_per_s) {
  json advice = json::array();
  for (const auto& [name_space, told] : RunsToldOf(profiles, link_bytes_per_s)) {
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
  for (const json& node : gpu_nodes) {
    const auto link = static_cast<double>(CountAt(node, {"status"}, "linkBytesPerSecond"));
    if (link > 0) links.push_back(link);
  }
  return gains::UsualLink(std::move(links));
}

std::string AdviceText(const json& advice, bool wide) {
  std::vector<std::vector<std::string>> rows = {{"NAMESPACE", "GPU HOURS", "KNOWN", "SAVED"}};
  std::string pairs, slow, input;
  double unknown = 0;
  for (const json& entry : ListAt(advice, {"namespaces"})) {
    const double hours = NumberAt(entry, "gpuHours"), known = NumberAt(entry, "knownGPUHours");
    unknown += hours - known;
    rows.push_back({TextAt(entry, {"namespace"}), Number(hours, 1), Number(known, 1),
                    Number(NumberAt(entry, "savedGPUHours"), 1)});
    slow += SlowText(entry);
    input += InputText(entry);
    for (const json& pair : ListAt(entry, {"pairs"})) {
      const json& gangs = ListAt(pair, {"gangs"});
      pairs += kube::Text(gangs[0]) + " and " + kube::Text(gangs[1]) + ": " +
               Number(NumberAt(pair, "gain"), 2) + "x, " + Number(NumberAt(pair, "savedGPUHours"), 1) +
               " GPU hours\n";
    }
  }
  if (rows.size() == 1) return "no run is known that shared with none\n";
  std::string text = Columns(rows);
  if (unknown > 0.05)
    text +=
        "\nOf the rest it is not known what they need: jobs that are only observed do not show it. Let one "
        "run in "
        "mode enforce, or name computeSeconds and exposedSeconds in the JobProfile's spec.\n";
  if (!slow.empty()) text += "\nSlow ranks:\n" + slow;
  if (!input.empty()) text += "\nRanks that wait for input:\n" + input;
  return text + (wide && !pairs.empty() ? "\n" + pairs : "");
}

}  // namespace crossover::cli
