#include "cli/app.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>

#include "cli/cluster/app.h"
#include "cli/doctor/doctor.h"
#include "cli/mode/mode.h"
#include "cli/node/client.h"
#include "cli/options/between.h"
#include "cli/pipeline/pipeline.h"
#include "cli/profiles/profiles.h"
#include "cli/run/run.h"
#include "cli/timeline/timeline.h"
#include "cli/top/top.h"

namespace crossover::cli {
namespace {

using Action = std::function<int()>;

template <class Options>
CLI::App* Add(CLI::App* app, const char* name, const char* what, Action* action,
              int (*command)(const Options& options), std::shared_ptr<Options> options) {
  CLI::App* subcommand = app->add_subcommand(name, what);
  subcommand->callback(
      [action, command, options] { *action = [command, options] { return command(*options); }; });
  return subcommand;
}

void AddSocket(CLI::App* command, std::string* socket) {
  *socket = kDefaultApiSocket;
  command->add_option("--socket", *socket, "the daemon's API socket")->capture_default_str();
}

// Adds the option -o with the values `text` and json. `owner` keeps `json` alive.
void AddOutput(CLI::App* command, const std::string& text, bool* json, const std::shared_ptr<void>& owner) {
  command
      ->add_option_function<std::string>(
          "-o,--output", [json, owner](const std::string& format) { *json = format == "json"; },
          text + " or json (default " + text + ")")
      ->check(CLI::IsMember({text, std::string("json")}));
}

void AddRun(CLI::App* app, Action* action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* run =
      Add(app, "run", "start a command as a part of a job that takes turns", action, Run, options);
  run->add_option("--gang", options->gang, "name of the job: the same for all its ranks")->required();
  run->add_option("--size", options->size, "number of ranks of the whole job")->required();
  run->add_option("--priority", options->priority,
                  "high, normal or low: whose turn comes first (default $CROSSOVER_TURN_PRIORITY, else "
                  "normal)");
  run->add_option("--max-slowdown", options->max_slowdown,
                  "how many times as long as alone its iterations may take, 1.05 to 10 (default "
                  "$CROSSOVER_MAX_SLOWDOWN, else no limit)");
  run->add_option("--gpu-memory", options->gpu_memory,
                  "how much of each GPU's memory a rank may have, such as 20Gi (default "
                  "$CROSSOVER_GPU_MEMORY, else all)");
  run->add_option("--socket", options->socket,
                  "the daemon's socket for jobs (default $CROSSOVER_SOCKET, else "
                  "/run/crossover/arbiter.sock)");
  run->add_option(
      "--library", options->library,
      "libcrossover.so (default: the one beside this program, or in ../lib or ../lib/crossover from there)");
  run->add_option("command", options->command, "the command and its arguments, after --")->required();
  run->positionals_at_end();
}

void AddTop(CLI::App* app, Action* action) {
  auto options = std::make_shared<TopOptions>();
  CLI::App* top =
      Add(app, "top", "who holds each GPU, who waits, what sharing costs and gains", action, Top, options);
  AddSocket(top, &options->socket);
  AddOutput(top, "table", &options->json, options);
  top->add_option("-w,--watch", options->watch_s, "repeat after this many seconds, 0.1 to 3600")
      ->check(Between(0.1, 3600));
}

void AddTimeline(CLI::App* app, Action* action) {
  auto options = std::make_shared<TimelineOptions>();
  CLI::App* timeline =
      Add(app, "timeline", "the last turns, or turns as they come", action, Timeline, options);
  AddSocket(timeline, &options->socket);
  timeline->add_option("--gpu", options->gpu, "UUID of the only GPU to show (default: all)");
  timeline
      ->add_option("--seconds", options->seconds,
                   "how many seconds to look back from the newest turn, with json from now, 0.01 to 3600")
      ->check(Between(0.01, 3600))
      ->capture_default_str();
  AddOutput(timeline, "text", &options->json, options);
  timeline->add_flag("--follow", options->follow, "print events as they come; with json, one a line");
}

void AddMode(CLI::App* app, Action* action) {
  CLI::App* mode = app->add_subcommand("mode", "switch turns on this machine on or off, at once");
  auto socket = std::make_shared<std::string>();
  auto to = std::make_shared<std::string>();
  AddSocket(mode, socket.get());
  mode->add_option("mode", *to, "off, observe, enforce, or configured: back to what the configuration says")
      ->required()
      ->check(CLI::IsMember({"off", "observe", "enforce", "configured"}));
  mode->callback([action, socket, to] { *action = [socket, to] { return SwitchMode(*socket, *to); }; });
}

void AddProfiles(CLI::App* app, Action* action) {
  auto options = std::make_shared<ProfilesOptions>();
  CLI::App* profiles =
      Add(app, "profiles", "what is remembered of jobs that ran on this machine", action, Profiles, options);
  AddSocket(profiles, &options->socket);
  AddOutput(profiles, "table", &options->json, options);
}

void AddDoctor(CLI::App* app, Action* action) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* doctor =
      Add(app, "doctor", "what keeps jobs of this machine from taking turns", action, Doctor, options);
  AddSocket(doctor, &options->api_socket);
  doctor->add_option("--arbiter-socket", options->arbiter_socket,
                     "the daemon's socket for jobs (default $CROSSOVER_SOCKET, else what the daemon says, "
                     "else /run/crossover/arbiter.sock)");
  doctor->add_option(
      "--library", options->library,
      "libcrossover.so (default: the one beside this program, or in ../lib or ../lib/crossover from there)");
  AddOutput(doctor, "text", &options->json, options);
}

void AddPlan(CLI::App* app, Action* action) {
  CLI::App* plan = app->add_subcommand("plan", "plan how a model is trained");
  plan->require_subcommand(1);
  auto options = std::make_shared<PipelineOptions>();
  CLI::App* pipeline =
      Add(plan, "pipeline", "divide a model into the stages of a pipeline", action, PlanPipeline, options);
  pipeline
      ->add_option("--profile", options->profile,
                   "what the blocks of the model cost (docs/pipelines.md): CSV, JSON, or a torch.profiler "
                   "trace; -: stdin")
      ->required();
  pipeline
      ->add_option("--try-all-up-to", options->try_all_up_to,
                   "try all divisions if there are at most this many, else search")
      ->check(CLI::Range(0, 1'000'000))
      ->capture_default_str();
  pipeline
      ->add_option("--most-operations", options->most_operations, "most operations that the search simulates")
      ->check(CLI::Range(std::int64_t{1000}, std::int64_t{1'000'000'000'000}))
      ->capture_default_str();
  pipeline->add_option("--stages", options->stages, "GPUs of the pipeline")
      ->required()
      ->check(CLI::Range(1, 4096));
  pipeline->add_option("--microbatches", options->microbatches, "micro-batches of an iteration")
      ->required()
      ->check(CLI::Range(1, 65536));
  pipeline->add_option("--schedule", options->schedule, "1f1b, interleaved or gpipe")
      ->check(CLI::IsMember({"1f1b", "interleaved", "gpipe"}))
      ->capture_default_str();
  pipeline->add_option("--chunks", options->chunks, "stages of each GPU, for interleaved")
      ->check(CLI::Range(1, 64))
      ->default_str(std::to_string(PipelineOptions::kChunks));
  pipeline->add_flag("!--no-slices", options->slices,
                     "do not halve the forward passes of the first micro-batches");
  pipeline
      ->add_option("--slice-cost", options->slice_cost,
                   "how much longer the two halves of a forward pass take than the whole: 0.05 is a "
                   "twentieth")
      ->check(Between(0, 1))
      ->default_str("0.05");
  pipeline
      ->add_option("--state-factor", options->state_factor,
                   "bytes of parameters, gradients and optimiser for each byte of parameters")
      ->check(Between(1, 100))
      ->capture_default_str();
  CLI::Option* cluster =
      pipeline->add_option("--cluster", options->cluster,
                           "JSON file with the servers (docs/pipelines.md); -: stdin; default: equal GPUs");
  pipeline
      ->add_option("--gpu-memory-gib", options->gpu_memory_gib,
                   "memory of each GPU in GiB (default 0: no limit)")
      ->check(Between(0, 1e6))
      ->excludes(cluster);
  pipeline
      ->add_option("--link-gbit", options->link_gbit,
                   "speed of links between neighbours in Gbit/s (default: transfers take only the latency)")
      ->check(Between(0, 1e6))
      ->excludes(cluster);
  pipeline->add_option("--latency-us", options->latency_us, "latency of a transfer in microseconds")
      ->check(Between(0, 1e9))
      ->excludes(cluster);
  pipeline->add_option("--picture", options->picture, "HTML page of the schedule to write");
  AddOutput(pipeline, "table", &options->json, options);
}

}  // namespace

int Main(int argc, char** argv, const char* version) {
  if (argc > 0 && IsKubectlPlugin(argv[0])) return ClusterMain(argc, argv, version);
  CLI::App app("Lets training jobs take turns on the same GPUs.", "crossover");
  app.set_version_flag("--version", std::string("crossover ") + version);
  app.require_subcommand(1);
  Action action;
  AddRun(&app, &action);
  AddTop(&app, &action);
  AddTimeline(&app, &action);
  AddMode(&app, &action);
  AddProfiles(&app, &action);
  AddDoctor(&app, &action);
  AddPlan(&app, &action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // help, version
    std::fprintf(stderr, "crossover: %s; --help says more\n", error.what());
    return 2;
  }
  return action();
}

}  // namespace crossover::cli
