#include "cli/cluster/balance_advice.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/gains/balance.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

using kube::At;

// A Gang is what the nodes report of one gang together.
struct Gang {
  std::int64_t size = 0;  // its ranks on all nodes
  std::vector<gains::RankTimes> ranks{};
  double step_s = 0;   // the longest that a node reports
  bool sends = false;  // its ranks send to single other ones
};

bool HasEnded(const json& job) { return At(job, "ended") == json(true); }

// Returns the ranks of other jobs on the GPU.
std::vector<gains::Neighbour> NeighboursOf(const json& jobs, const json& own, const std::string& gpu) {
  std::vector<gains::Neighbour> neighbours;
  for (const json& job : jobs) {
    if (&job == &own || HasEnded(job)) continue;
    for (const json& rank : ListAt(job, {"ranks"})) {
      const double compute_s = NumberAt(rank, "computeSeconds");
      if (!gpu.empty() && TextAt(rank, {"gpu"}) == gpu)
        neighbours.push_back({.compute_s = compute_s, .step_s = compute_s + NumberAt(job, "exposedSeconds")});
    }
  }
  return neighbours;
}

// Adds what one node reports of a job of its `jobs`. The seconds of the job are means over its ranks there.
void Add(const json& jobs, const json& job, Gang* gang) {
  const json& ranks = ListAt(job, {"ranks"});
  const double away_s = NumberAt(job, "exposedSeconds");
  double waits_s = 0;
  for (const json& rank : ranks) {
    gains::RankTimes times{.compute_s = NumberAt(rank, "computeSeconds"),
                           .wait_s = std::max(0.0, NumberAt(rank, "waitSeconds"))};
    waits_s += times.wait_s;
    times.wait_s = gains::WaitBeside(times.wait_s, away_s, times.compute_s + times.wait_s + away_s,
                                     NeighboursOf(jobs, job, TextAt(rank, {"gpu"})));
    if (times.compute_s > 0) gang->ranks.push_back(times);
  }
  for (const json& call : ListAt(job, {"communication"})) {
    const std::string function = TextAt(call, {"function"});
    gang->sends |= function == "Send" || function == "Recv" || function == "AlltoAll";
  }
  gang->size = std::max(gang->size, CountAt(job, {}, "gangSize"));
  gang->step_s = std::max(gang->step_s, NumberAt(job, "computeSeconds") + NumberAt(job, "exposedSeconds") +
                                            waits_s / static_cast<double>(ranks.size()));
}

json Judged(const Gang& gang, json advice) {
  const auto known = static_cast<std::int64_t>(gang.ranks.size());
  if (known != gang.size) {
    advice["why"] = "its nodes report " + std::to_string(known) + " of " + std::to_string(gang.size) +
                    " ranks, expected all (a node reports up to 16 of a job)";
    return advice;
  }
  if (gang.sends) {
    advice["why"] =
        "its ranks send to single other ones, as stages of a pipeline or experts do: parts of the "
        "batch do not make such ranks equal";
    return advice;
  }
  const auto [shortest, longest] = std::ranges::minmax(
      gang.ranks, {}, [](const gains::RankTimes& rank) { return rank.compute_s + rank.wait_s; });
  const gains::Balance balance = gains::BalanceOf(gang.ranks, std::vector<double>(gang.ranks.size(), 1.0));
  const double step_s = std::max(gang.step_s, balance.longest_s);
  advice.update({{"ranks", known},
                 {"shortestSeconds", shortest.compute_s + shortest.wait_s},
                 {"longestSeconds", longest.compute_s + longest.wait_s},
                 {"stepSeconds", step_s},
                 {"gain", gains::GainOf(balance, step_s)}});
  return advice;
}

}  // namespace

json BalanceAdvice(const json& gpu_nodes, const std::string& name_space) {
  std::map<std::pair<std::string, std::string>, Gang> gangs;
  for (const json& node : gpu_nodes) {
    const json& jobs = ListAt(node, {"status", "jobs"});
    for (const json& job : jobs) {
      const std::string of = TextAt(job, {"namespace"});
      if (HasEnded(job) || ListAt(job, {"ranks"}).empty() || (!name_space.empty() && of != name_space))
        continue;
      Add(jobs, job, &gangs[{of, TextAt(job, {"gang"})}]);
    }
  }
  std::vector<json> advice;
  for (const auto& [name, gang] : gangs) {
    if (gang.size > 1 && !gang.ranks.empty())
      advice.push_back(Judged(gang, {{"namespace", name.first}, {"gang", name.second}}));
  }
  std::ranges::stable_sort(
      advice, [](const json& a, const json& b) { return NumberAt(a, "gain") > NumberAt(b, "gain"); });
  return advice;
}

std::string BalanceText(const json& advice, bool wide) {
  std::string text;
  for (const json& gang : advice) {
    const std::string name = TextAt(gang, {"gang"});
    if (const std::string why = TextAt(gang, {"why"}); !why.empty()) {
      if (wide) text += name + ": no gain is told, as " + why + "\n";
      continue;
    }
    const double gain = NumberAt(gang, "gain");
    if (gain < 1 + gains::kWorth) continue;
    text += name + ": its " + std::to_string(CountAt(gang, {}, "ranks")) +
            " ranks compute or wait for their turn for " + InMs(gang, "shortestSeconds") + " to " +
            InMs(gang, "longestSeconds") + " ms of a step of " + InMs(gang, "stepSeconds") +
            " ms. With parts of the batch by their speed (crossover.dev/batch-shares) a step is " +
            Number(gain, 2) + " times as fast.\n";
  }
  return text;
}

}  // namespace crossover::cli
