#include "extender/shares/share_keeper.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/base/names.h"
#include "common/logging/log.h"

namespace crossover::extender {
namespace {

// Returns the weights that all pods of the job have, or none. A replica that begins to lead goes on with
// them.
Weights AgreedOn(const ShareJob& job) {
  const std::string& text = job.pods.front().text;
  const bool agreed =
      std::ranges::all_of(job.pods, [&text](const ShareJob::Member& member) { return member.text == text; });
  return agreed ? WeightsOf(text) : Weights{};
}

std::string Percent(double part) { return std::to_string(std::lround(100 * part)) + "%"; }

}  // namespace

ShareKeeper::ShareKeeper(Api& api, const ShareSettings& settings, Dependencies around)
    : api_(api),
      settings_(settings),
      around_(std::move(around)),
      task_("xo-shares", around_.period, [this] { Round(); }) {}

void ShareKeeper::Round() {
  if (!around_.leads()) {
    states_.clear();  // another replica writes the weights now
    return;
  }
  const auto jobs = around_.jobs();
  if (!jobs) return;
  const double now_s = around_.now_s();
  std::erase_if(states_, [&jobs](const auto& entry) {
    return std::ranges::none_of(*jobs, [&entry](const ShareJob& job) { return job.id == entry.first; });
  });
  for (const ShareJob& job : *jobs) {
    if (!around_.leads()) return;
    Keep(job, now_s);
  }
}

void ShareKeeper::Keep(const ShareJob& job, double now_s) {
  auto [entry, anew] = states_.try_emplace(job.id);
  ShareState& state = entry->second;
  // The ranks of a job that is seen for the first time may not have settled yet.
  if (anew) state = {.weights = AgreedOn(job), .since_s = now_s};
  if (!job.ranks.empty()) {
    const ShareDecision decision = DecideShares(job.ranks, job.measured_s, now_s, settings_, &state);
    if (decision.kind == ShareDecision::Kind::kChange) ++changes_;
    if (decision.kind == ShareDecision::Kind::kWithdraw) ++withdrawals_;
    if (decision.kind != ShareDecision::Kind::kStay) Tell(job, decision, state);
  }
  if (!state.weights.empty()) Write(job, TextOf(state.weights));
}

// Writes the weights on each pod that has others. A pod that the job has made anew gets them, too.
void ShareKeeper::Write(const ShareJob& job, const std::string& text) {
  for (const ShareJob::Member& member : job.pods) {
    if (member.text == text) continue;
    const Result result = api_.Write({.kind = Action::Kind::kShare, .pod = member.pod, .text = text});
    if (result.outcome == Outcome::kDone || result.outcome == Outcome::kGone) continue;
    if (failures_++ == 0)
      logging::Warn("shares: the weights of pod " + member.pod.name_space + "/" + member.pod.name +
                    " cannot be written: " + result.error);
  }
}

void ShareKeeper::Tell(const ShareJob& job, const ShareDecision& decision, const ShareState& state) {
  Action event{.kind = Action::Kind::kTell, .pod = job.pods.front().pod, .doing = "Balance"};
  if (decision.kind == ShareDecision::Kind::kChange) {
    event.reason = "BatchSharesChanged";
    event.text = "The ranks get these weights for their parts of the batch, in the order of ranks: " +
                 TextOf(state.weights) + ". A step should become shorter by " +
                 Percent(1 - 1 / decision.gain) + ".";
  } else {
    event.reason = "BatchSharesWithdrawn";
    event.text = "The compute times of the ranks followed the new weights by " + Percent(decision.followed) +
                 ", expected " + Percent(settings_.followed) +
                 " or more: the ranks get equal weights again. Does the program read the file " +
                 base::kWeightsFile + "?";
    event.warning = true;
  }
  api_.Tell(event);
}

}  // namespace crossover::extender
