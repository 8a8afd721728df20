#include "cli/cluster/balance_advice.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/api/neighbours.h"
#include "common/gains/balance.h"

namespace crossover::cli {
namespace {

// A Gang is what the nodes report of one gang together.
struct Gang {
  std::int64_t size = 0;  // its ranks on all nodes
  std::vector<gains::RankTimes> ranks{};
  double step_s = 0;   // the longest that a node reports
  bool sends = false;  // its ranks send to single other ones
};

bool IsToOne(api::NcclFunction function) {
  return api::IsBetweenTwo(function) || function == api::NcclFunction::kAlltoAll;
}

// Adds what one node reports of a job of its `jobs`. The seconds of the job are means over its ranks there.
void Add(const std::vector<api::GpuNode::Job>& jobs, const api::GpuNode::Job& job, Gang* gang) {
  const double away_s = job.exposed_s.value_or(0);
  double waits_s = 0;
  for (const api::GpuNode::Rank& rank : job.ranks) {
    gains::RankTimes times{.compute_s = rank.compute_s, .wait_s = rank.wait_s};
    waits_s += times.wait_s;
    times.wait_s = gains::WaitBeside(times.wait_s, away_s, times.compute_s + times.wait_s + away_s,
                                     api::NeighboursOf(jobs, job, rank.gpu));
    gang->ranks.push_back(times);
  }
  for (const api::NcclCall& call : job.communication) gang->sends |= IsToOne(call.function);
  gang->size = std::max<std::int64_t>(gang->size, job.gang_size);
  gang->step_s = std::max(
      gang->step_s, job.compute_s.value_or(0) + away_s + waits_s / static_cast<double>(job.ranks.size()));
}

json Judged(const Gang& gang, json advice) {
  const auto known = static_cast<std::int64_t>(gang.ranks.size());
  if (known != gang.size) {
    advice["why"] = "its nodes report " + std::to_string(known) + " of " + std::to_string(gang.size) +
                    " ranks, expected all (a node reports up to 16 of a job, and only those that it has "
                    "measured)";
    return advice;
  }
  if (gang.sends) {
    advice["why"] =
        "its ranks send to single other ranks, as stages of a pipeline or experts do: parts of the batch do "
        "not make such ranks equal";
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
    const std::vector<api::GpuNode::Job> jobs = api::JobsOf(node);
    for (const api::GpuNode::Job& job : jobs) {
      if (job.ended || job.ranks.empty() || (!name_space.empty() && job.name_space != name_space)) continue;
      Add(jobs, job, &gangs[{job.name_space, job.gang}]);
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
    text += name + ": its " + std::to_string(CountAt(gang, {}, "ranks")) + " ranks spend " +
            InMs(gang, "shortestSeconds") + " to " + InMs(gang, "longestSeconds") +
            " ms on compute and on waits for their turn, of a step of " + InMs(gang, "stepSeconds") +
            " ms. With parts of the batch by their speed (crossover.dev/batch-shares) a step is " +
            Number(gain, 2) + " times as fast.\n";
  }
  return text;
}

}  // namespace crossover::cli
