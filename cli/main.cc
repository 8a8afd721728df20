#include <CLI/CLI.hpp>
#include <cstdio>

#include "cli/run/run.h"

int main(int argc, char** argv) {
  CLI::App app("Lets training jobs take turns on the same GPUs.", "crossover");
  app.set_version_flag("--version", "crossover " CROSSOVER_VERSION);
  app.require_subcommand(1);

  crossover::cli::RunOptions options;
  CLI::App* run = app.add_subcommand("run", "start a command as a part of a job that takes turns");
  run->add_option("--gang", options.gang, "name of the job: the same for all its ranks")->required();
  run->add_option("--size", options.size, "ranks of the whole job")->required();
  run->add_option("--priority", options.priority,
                  "high, normal or low: whose turn comes first (default normal)");
  run->add_option("--socket", options.socket,
                  "the daemon's socket (default $CROSSOVER_SOCKET, else /run/crossover/arbiter.sock)");
  run->add_option("--library", options.library, "libcrossover.so (default: the one beside this program)");
  run->add_option("command", options.command, "the command and its arguments, after --")->required();
  run->positionals_at_end();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help, version
    std::fprintf(stderr, "crossover: %s; --help says more\n", error.what());
    return 2;
  }
  return crossover::cli::Run(options);
}
