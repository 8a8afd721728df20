#include "cli/cluster/app.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/cluster/advise.h"
#include "cli/cluster/completion.h"
#include "cli/cluster/doctor.h"
#include "cli/cluster/explain.h"
#include "cli/cluster/nodes.h"
#include "cli/cluster/servers.h"
#include "cli/cluster/timeline.h"
#include "cli/options/between.h"
#include "cli/render/print.h"

namespace crossover::cli {
namespace {

using Action = std::function<int(const Kubectl&)>;

void AddShowing(CLI::App* command, Showing* show) {
  static const std::map<std::string, Format> formats = {
      {"text", Format::kText}, {"wide", Format::kWide}, {"json", Format::kJson}, {"yaml", Format::kYaml}};
  command
      ->add_option_function<std::string>(
          "-o,--output", [show](const std::string& name) { show->format = formats.at(name); },
          "the format of the answer (default: text)")
      ->check(CLI::IsMember(formats));
  command->add_option("-w,--watch", show->watch_s, "repeat after this many seconds, 0.1 to 3600")
      ->check(Between(0.1, 3600));
}

void AddTop(CLI::App* app, Action* action) {
  auto options = std::make_shared<ClusterTopOptions>();
  CLI::App* top = app->add_subcommand("top", "who holds each GPU, who waits, what sharing costs and gains");
  top->add_option("--node", options->node, "the only node to ask (default: all)");
  AddShowing(top, &options->show);
  top->callback(
      [=] { *action = [options](const Kubectl& kubectl) { return ClusterTop(kubectl, *options); }; });
}

void AddTimeline(CLI::App* app, Action* action) {
  auto options = std::make_shared<ClusterTimelineOptions>();
  CLI::App* timeline = app->add_subcommand("timeline", "the last turns on a node, or turns as they come");
  timeline->add_option("--node", options->node, "the node")->required();
  timeline->add_option("words", options->words,
                       "after --: options of crossover timeline, such as --follow or --seconds 10");
  AddShowing(timeline, &options->show);
  timeline->callback([=] {
    if (options->show.watch_s && Follows(*options))
      throw CLI::ValidationError("--watch", "expected --watch or --follow, got both");
    *action = [options](const Kubectl& kubectl) { return ClusterTimeline(kubectl, *options); };
  });
}

void AddExplain(CLI::App* app, Action* action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* explain = app->add_subcommand("explain", "why a pod or a gang has its GPUs, or has none");
  explain->add_option("kind", options->kind, "pod or gang")
      ->required()
      ->check(CLI::IsMember({"pod", "gang"}));
  explain->add_option("name", options->name, "its name")->required();
  explain->add_option("-n,--namespace", options->name_space, "its namespace (default: the context's)");
  AddShowing(explain, &options->show);
  explain->callback(
      [=] { *action = [options](const Kubectl& kubectl) { return Explain(kubectl, *options); }; });
}

void AddDoctor(CLI::App* app, Action* action) {
  auto options = std::make_shared<ClusterDoctorOptions>();
  CLI::App* doctor =
      app->add_subcommand("doctor", "what keeps jobs of the cluster from sharing, and what to do");
  AddShowing(doctor, &options->show);
  doctor->add_option("--bundle", options->bundle, "a new folder for everything that the doctor has read")
      ->excludes("--watch");
  doctor->callback(
      [=] { *action = [options](const Kubectl& kubectl) { return ClusterDoctor(kubectl, *options); }; });
}

void AddAdvise(CLI::App* app, Action* action) {
  auto options = std::make_shared<AdviseOptions>();
  CLI::App* advise = app->add_subcommand("advise", "GPU hours that sharing would have saved, by namespace");
  advise->add_option("-n,--namespace", options->name_space, "the only namespace (default: all)");
  advise->add_option("--days", options->days, "how many days to look back, 0.01 to 90")
      ->check(Between(0.01, 90))
      ->capture_default_str();
  AddShowing(advise, &options->show);
  advise->callback(
      [=] { *action = [options](const Kubectl& kubectl) { return Advise(kubectl, *options); }; });
}

void AddServers(CLI::App* app, Action* action) {
  auto options = std::make_shared<ServersOptions>();
  CLI::App* servers =
      app->add_subcommand("servers", "this cluster's GPUs and links, for crossover plan pipeline --cluster");
  servers->add_option_function<std::vector<std::string>>(
      "--node",
      [=](const std::vector<std::string>& names) { options->nodes.insert(names.begin(), names.end()); },
      "the only nodes (default: all)");
  servers->add_option_function<std::vector<std::string>>(
      "--speed",
      [=](const std::vector<std::string>& all) {
        for (const std::string& words : all) {
          if (const std::string fault = AddSpeed(words, options.get()); !fault.empty())
            throw CLI::ValidationError("--speed", fault);
        }
      },
      "MODEL=FACTOR: how fast GPUs of a model are, relative to those of the pipeline's profile; needed for "
      "each model if there are several (default: 1)");
  servers
      ->add_option("--inner-gbit", options->inner_gbit,
                   "speed of links between GPUs of a node in Gbit/s (default: transfers take no time)")
      ->check(Between(0, 1e6));
  servers->callback(
      [=] { *action = [options](const Kubectl& kubectl) { return Servers(kubectl, *options); }; });
}

void AddCompletion(CLI::App* app, Action* action) {
  CLI::App* completion = app->add_subcommand(
      "completion", "the program kubectl_complete-crossover, which must be an executable on the PATH");
  completion->callback([=] { *action = [](const Kubectl&) { return Print(kCompletion) ? 0 : 1; }; });
}

}  // namespace

bool IsKubectlPlugin(const char* called) {
  const std::string_view path = called == nullptr ? "" : called;
  return path.substr(path.rfind('/') + 1) == "kubectl-crossover";
}

int ClusterMain(int argc, char** argv, const char* version) {
  CLI::App app("What Crossover does in a cluster, asked with your own rights through kubectl.",
               "kubectl crossover");
  app.set_version_flag("--version", std::string("kubectl-crossover ") + version);
  app.require_subcommand(1);
  std::string context, kubeconfig;
  app.add_option("--context", context, "the context of the kubeconfig");
  app.add_option("--kubeconfig", kubeconfig, "the file (default: kubectl's)");
  Action action;
  AddTop(&app, &action);
  AddTimeline(&app, &action);
  AddExplain(&app, &action);
  AddDoctor(&app, &action);
  AddAdvise(&app, &action);
  AddServers(&app, &action);
  AddCompletion(&app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help, version
    std::fprintf(stderr, "kubectl crossover: %s; --help says more\n", error.what());
    return 2;
  }
  std::vector<std::string> flags;
  if (!context.empty()) flags.insert(flags.end(), {"--context", context});
  if (!kubeconfig.empty()) flags.insert(flags.end(), {"--kubeconfig", kubeconfig});
  return action(Kubectl(flags));
}

}  // namespace crossover::cli
