#include "cli/cluster/advise.h"

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>

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
    const nlohmann::json advice = AdviceOf(*profiles, now.count() - options.days * kDayS);
    return Answer{.value = advice,
                  .text = AdviceText(advice, options.show.format == Format::kWide),
                  .note = "",
                  .code = 0};
  });
}

}  // namespace crossover::cli
