#include <CLI/CLI.hpp>
#include <cstdio>
#include <string>

#include "extender/config/config.h"
#include "extender/extender.h"

int main(int argc, char** argv) {
  CLI::App app(
      "Crossover's part of a cluster: places gangs beside a scheduler, and rewrites pods that share.",
      "crossover-extender");
  bool check = false;
  std::string config;
  app.add_flag("--check", check, "say whether the file is valid, and end");
  app.add_option("--config", config, "YAML file with the configuration")->required();
  app.set_version_flag("--version", "crossover-extender " CROSSOVER_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help, version
    std::fprintf(stderr, "crossover-extender: %s; --help says more\n", error.what());
    return 2;
  }
  return check ? crossover::extender::CheckConfig(config) : crossover::extender::RunExtender(config);
}
