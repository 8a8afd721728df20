#include "cli/cluster/advise.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "cli/cluster/balance_advice.h"
#include "cli/cluster/place_advice.h"
#include "cli/cluster/shrink_advice.h"

namespace crossover::cli {

int Advise(const Kubectl& kubectl, const AdviseOptions& options) {
  constexpr double kDayS = 86400;
  std::vector<std::string> what = {"jobprofiles.crossover.dev"};
  if (options.name_space.empty()) {
    what.emplace_back("--all-namespaces");
  } else {
    what.insert(what.end(), {"--namespace", options.name_space});
  }
  return ShowRounds("advise", options.show, [&](std::string* error) -> std::optional<Answer> {
    const auto profiles = kubectl.List(what, error);
    if (!profiles) return std::nullopt;
    const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
    const bool wide = options.show.format == Format::kWide;
    std::string unseen;
    const auto nodes = kubectl.List({"gpunodes.crossover.dev"}, &unseen);
    const double since_s = now.count() - options.days * kDayS;
    nlohmann::json advice = AdviceOf(*profiles, since_s, nodes ? UsualLink(*nodes) : 0);
    std::string text = AdviceText(advice, wide);
    advice["place"] = PlaceAdvice(*profiles, since_s);
    const std::string place = PlaceText(advice["place"], wide);
    if (!place.empty()) text += "\nPods in better places:\n" + place;
    if (nodes) {
      advice["balance"] = BalanceAdvice(*nodes, options.name_space);
      const std::string balance = BalanceText(advice["balance"], wide);
      if (!balance.empty()) text += "\nRanks of unequal speed, now:\n" + balance;
      advice["shrink"] = ShrinkAdvice(*nodes, *profiles, options.name_space);
      const std::string shrink = ShrinkText(advice["shrink"], wide);
      if (!shrink.empty()) text += "\nCompressed reductions, now:\n" + shrink;
    }
    return Answer{
        .value = std::move(advice),
        .text = std::move(text),
        .note = unseen.empty()
                    ? ""
                    : "ranks of unequal speed, compressed reductions and the speed of links are left out: " +
                          unseen,
        .code = 0};
  });
}

}  // namespace crossover::cli
