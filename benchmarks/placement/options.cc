#include "benchmarks/placement/options.h"

#include <functional>
#include <map>
#include <sstream>
#include <stdexcept>

#include "common/base/refusal.h"

namespace crossover::benchmarks {
namespace {

const char kUsage[] =
    "usage: placement_trace TRACE fifo|shortest|random|muri|muri_l|shipped|powers "
    "[--format=muri|gavel|philly] "
    "[--throughputs=FILE.json] [--gpu-kind=NAME] [--placements=DIRECTORY] [--clusters=NAME,...] [--nodes=N] "
    "[--gpus=N] [--slots=N] [--efficiency=0-1] [--starvation=SECONDS] [--starvation-runs=N] [--min-gain=N] "
    "[--seed=N] [--shake=SEED] "
    "[--mean-up=SECONDS] [--down=SECONDS] [--checkpoint=SECONDS] [--jobs=FILE.csv] [--occupancy=FILE.csv]";

using Values = std::map<std::string, std::function<void(const std::string&)>>;

std::set<std::string> NamesIn(const std::string& text) {
  std::set<std::string> names;
  std::istringstream stream(text);
  for (std::string name; std::getline(stream, name, ',');) names.insert(name);
  return names;
}

Values ValuesOf(Options& o) {
  const auto given = [](std::string& to) { return [&to](const std::string& text) { to = text; }; };
  const auto whole = [](int& to) { return [&to](const std::string& text) { to = std::stoi(text); }; };
  const auto number = [](double& to) { return [&to](const std::string& text) { to = std::stod(text); }; };
  return {{"--format", given(o.source.format)},
          {"--throughputs", given(o.source.throughputs)},
          {"--gpu-kind", given(o.source.gpu)},
          {"--placements", given(o.source.placements)},
          {"--clusters", [&o](const std::string& names) { o.source.clusters = NamesIn(names); }},
          {"--nodes", whole(o.cluster.nodes)},
          {"--gpus", whole(o.cluster.gpus_per_node)},
          {"--slots", whole(o.slots)},
          {"--efficiency", number(o.settings.efficiency)},
          {"--starvation", number(o.settings.starvation_s)},
          {"--starvation-runs", number(o.settings.starvation_runs)},
          {"--min-gain", number(o.settings.min_gain)},
          {"--seed", [&o](const std::string& text) { o.seed = o.failing.seed = std::stoull(text); }},
          {"--shake", [&o](const std::string& text) { o.shake = std::stoull(text); }},
          {"--mean-up", number(o.failing.mean_up_s)},
          {"--down", number(o.failing.down_s)},
          {"--checkpoint", number(o.failing.checkpoint_s)},
          {"--jobs", given(o.jobs)},
          {"--occupancy", given(o.occupancy)}};
}

}  // namespace

Options OptionsOf(int argc, const char* const* argv) {
  if (argc < 3) throw std::runtime_error(kUsage);
  Options options;
  options.source.path = argv[1];
  options.policy = argv[2];
  const Values values = ValuesOf(options);
  for (int i = 3; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    const auto found = values.find(argument.substr(0, equals));
    if (equals == std::string::npos || found == values.end())
      throw std::runtime_error(argument + ": " + kUsage);
    try {
      found->second(argument.substr(equals + 1));
    } catch (const std::logic_error&) {
      throw std::runtime_error(
          base::Refusal(argument.substr(0, equals), "a number", argument.substr(equals + 1)) + "; " + kUsage);
    }
  }
  return options;
}

std::unique_ptr<Policy> PolicyOf(const Options& o) {
  const std::map<std::string, std::function<std::unique_ptr<Policy>()>> kPolicies = {
      {"fifo", [&] { return MakeFifo(o.cluster); }},
      {"shortest", [&] { return MakeShortest(o.cluster); }},
      {"random", [&] { return MakeRandom(o.cluster, o.settings.efficiency, o.seed); }},
      {"muri", [&] { return MakeMuriS(o.cluster); }},
      {"muri_l", [&] { return MakeMuriL(o.cluster); }},
      {"shipped", [&] { return MakeShipped(o.cluster, o.settings, o.slots); }},
      {"powers", [&] { return MakePowers(o.cluster, o.settings.efficiency); }}};
  const auto found = kPolicies.find(o.policy);
  if (found == kPolicies.end()) throw std::runtime_error("policy \"" + o.policy + "\": " + kUsage);
  return found->second();
}

}  // namespace crossover::benchmarks
