#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "extender/config/config.h"
#include "extender/extender.h"
#include "extender/helm_hooks/helm_hooks.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Runs beside a kube-scheduler: decides which nodes and GPUs the pods of a gang get, and rewrites pods "
      "that share GPUs.",
      "crossover-extender");
  bool check = false;
  bool holders = false;
  std::string config, try_in;
  app.add_flag("--check", check, "say whether the file of --config is valid, and end");
  CLI::Option* with_config = app.add_option("--config", config, "YAML file with the configuration");
  CLI::Option* with_holders =
      app.add_flag("--holders", holders, "in a pod: list the pods that hold slots; exit code 1 if any does");
  CLI::Option* with_try = app.add_option(
      "--try-webhook", try_in, "in a pod: say what would become of a pod that shares, in this namespace");
  with_holders->excludes(with_config)->excludes(with_try);
  with_try->excludes(with_config);
  app.require_option(1, 2);
  app.set_version_flag("--version", "crossover-extender " CROSSOVER_VERSION);
  try {
    app.parse(argc, argv);
    if (check && config.empty()) throw CLI::RequiredError("--config");
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help, version
    std::fprintf(stderr, "crossover-extender: %s; --help says more\n", error.what());
    return 2;
  }
  if (holders) return crossover::extender::ListHolders();
  if (!try_in.empty()) return crossover::extender::TryWebhook(try_in);
  return check ? crossover::extender::CheckConfig(config) : crossover::extender::RunExtender(config);
}
