#include "cli/cluster/advise.h"

#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace crossover::cli {

int Advise(const Kubectl& kubectl, const AdviseOptions& options) {
  constexpr double kDayS = 86400;
  std::vector<std::string> what = {"jobprofiles.crossover.dev"};
  if (options.name_space.empty()) {
    what.emplace_back("--all-namespaces");
  } else {
    what.insert(what.end(), {"--namespace", options.name_space});
  }
  std::string error;
  const auto profiles = kubectl.List(what, &error);
  if (!profiles) {
    std::fprintf(stderr, "crossover advise: %s\n", error.c_str());
    return 1;
  }
  const std::chrono::duration<double> now = std::chrono::system_clock::now().time_since_epoch();
  const nlohmann::json advice = AdviceOf(*profiles, now.count() - options.days * kDayS);
  return Print(Shown(advice, AdviceText(advice, options.format == Format::kWide), options.format)) ? 0 : 1;
}

}  // namespace crossover::cli
