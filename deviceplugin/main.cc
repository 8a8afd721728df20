#include <malloc.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "deviceplugin/check.h"
#include "deviceplugin/node.h"
#include "deviceplugin/standalone.h"

int main(int argc, char** argv) {
  CLI::App app("Crossover's node daemon: keeps the turns of this machine's GPUs.", "crossover-deviceplugin");
  bool standalone = false;
  bool check = false;
  std::string config;
  app.add_flag("--standalone", standalone, "serve this machine alone, without Kubernetes");
  app.add_flag("--check", check, "say whether the file is valid, and end");
  app.add_option("--config", config, "YAML file with the configuration")->required();
  app.set_version_flag("--version", "crossover-deviceplugin " CROSSOVER_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help or --version
    std::fprintf(stderr, "crossover-deviceplugin: %s; --help says more\n", error.what());
    return 2;
  }
  if (check) return crossover::deviceplugin::CheckConfig(config, standalone);
  // With more arenas, each would keep the memory that a thread serving metrics once needed.
  mallopt(M_ARENA_MAX, 1);
  mallopt(M_TRIM_THRESHOLD, 128 << 10);
  return standalone ? crossover::deviceplugin::RunStandalone(config)
                    : crossover::deviceplugin::RunOnNode(config);
}
