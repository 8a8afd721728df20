#include "cli/pipeline/pipeline.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/pipeline/report.h"
#include "cli/render/print.h"
#include "common/base/refusal.h"
#include "common/files/read_file.h"
#include "common/files/replace_file.h"

namespace crossover::cli {
namespace {

using pipeline::Kind;
using pipeline::kNever;
using pipeline::Problem;
using pipeline::Time;

int Refuse(const std::string& text, int code = 2) {
  std::fprintf(stderr, "crossover plan pipeline: %s\n", text.c_str());
  return code;
}

Kind KindOf(const std::string& schedule) {
  if (schedule == "gpipe") return Kind::kGPipe;
  return schedule == "interleaved" ? Kind::kInterleaved : Kind::kOneForwardOneBackward;
}

bool IsStandardInput(const std::string& path) { return path == "-"; }

std::string NameOf(const std::string& path) { return IsStandardInput(path) ? files::kStandardInput : path; }

std::optional<std::string> Read(const std::string& path, std::string* error) {
  return IsStandardInput(path) ? files::ReadStandardInput(error) : files::ReadFile(path, error);
}

// Returns whether both paths lead to one file, which to replace would take from who reads it.
bool IsSameFile(const std::string& picture, const std::string& input) {
  std::error_code missing;
  const std::string path = IsStandardInput(input) ? "/dev/stdin" : input;
  return std::filesystem::is_regular_file(picture, missing) &&
         std::filesystem::equivalent(picture, path, missing);
}

// Returns "" if the options may stand beside each other, else what is wrong.
std::string FaultOf(const PipelineOptions& options) {
  const auto needs = [&](const char* option, const char* schedule) {
    return base::Refusal(option, std::string("--schedule=") + schedule + " beside it", options.schedule);
  };
  if (options.chunks && options.schedule != "interleaved") return needs("--chunks", "interleaved");
  if (options.slice_cost && options.schedule != "1f1b") return needs("--slice-cost", "1f1b");
  if (!options.slices && options.schedule != "1f1b") return needs("--no-slices", "1f1b");
  if (IsStandardInput(options.profile) && IsStandardInput(options.cluster))
    return base::Refusal("--cluster", "a file, as --profile is standard input", options.cluster);
  for (const auto& [option, input] :
       {std::pair("--profile", options.profile), {"--cluster", options.cluster}}) {
    if (IsSameFile(options.picture, input))
      return base::Refusal("--picture", std::string("another file than that of ") + option,
                           base::Shown(options.picture));
  }
  return "";
}

// Returns the servers: those of the file, or one with as many GPUs as there are stages.
std::optional<std::vector<pipeline::Server>> ServersOf(const PipelineOptions& options, std::string* error) {
  if (options.cluster.empty()) {
    constexpr double kGib = 1u << 30, kGbit = 1e9 / 8, kUs = 1e3;
    pipeline::Server server;
    server.name = "gpu";
    server.gpus = options.stages;
    server.memory = static_cast<std::uint64_t>(options.gpu_memory_gib * kGib);
    server.inner_bytes_per_second = options.link_gbit * kGbit;
    server.inner_latency = static_cast<Time>(options.latency_us * kUs);
    return std::vector{server};
  }
  const std::optional<std::string> text = Read(options.cluster, error);
  if (!text) return std::nullopt;
  return pipeline::ReadServers(*text, NameOf(options.cluster), error);
}

// Returns the time of the best division that a tenth of the search finds for another schedule, or kNever if
// it finds no division.
Time TimeBy(Problem problem, Kind kind, int chunks_per_device) {
  problem.kind = kind;
  problem.chunks_per_device = chunks_per_device;
  problem.most_operations /= 10;
  if (!FaultOf(problem).empty()) return kNever;
  const auto division = Divide(problem);
  return division ? division->time : kNever;
}

std::vector<Compared> OthersOf(const Problem& problem, Time without_slices) {
  std::vector<Compared> others = {{"not_sliced", without_slices},
                                  {"even", TimeOf(problem, EvenBorders(problem))},
                                  {"balanced", TimeOf(problem, BalancedBorders(problem))}};
  if (problem.kind != Kind::kOneForwardOneBackward)
    others.push_back({"1f1b", TimeBy(problem, Kind::kOneForwardOneBackward, 1)});
  if (problem.kind != Kind::kInterleaved)
    others.push_back({"interleaved_2", TimeBy(problem, Kind::kInterleaved, 2)});
  if (problem.kind != Kind::kGPipe) others.push_back({"gpipe", TimeBy(problem, Kind::kGPipe, 1)});
  return others;
}

// Returns the plan as JSON. Replaces bytes that are not valid UTF-8, which names of blocks may have.
std::string JsonText(const PipelinePlan& plan) {
  return PipelineJson(plan).dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

// Returns the problem without its devices' memory and links, which the servers have.
Problem ProblemOf(const PipelineOptions& options, std::vector<pipeline::Block> blocks) {
  Problem problem;
  problem.blocks = std::move(blocks);
  problem.devices.resize(static_cast<std::size_t>(options.stages));
  problem.microbatches = options.microbatches;
  problem.kind = KindOf(options.schedule);
  if (problem.kind == Kind::kInterleaved)
    problem.chunks_per_device = options.chunks.value_or(PipelineOptions::kChunks);
  problem.slice_cost = options.slice_cost.value_or(PipelineOptions::kSliceCost);
  problem.state_factor = options.state_factor;
  problem.most_to_try = options.try_all_up_to;
  problem.most_operations = options.most_operations;
  return problem;
}

// Returns the exit code.
int Show(const PipelineOptions& options, const PipelinePlan& plan) {
  if (!options.picture.empty()) {
    const std::string fault = files::ReplaceFile(options.picture, PipelinePicture(plan));
    if (!fault.empty()) return Refuse("--picture: " + fault, 1);
  }
  if (Print(options.json ? JsonText(plan) : PipelineTable(plan))) return 0;
  return Refuse("standard output: cannot be written", 1);
}

}  // namespace

int PlanPipeline(const PipelineOptions& options) {
  if (const std::string fault = FaultOf(options); !fault.empty()) return Refuse(fault);
  std::string error;
  const std::optional<std::string> text = Read(options.profile, &error);
  if (!text) return Refuse("--profile: " + error);
  const auto blocks = pipeline::ReadProfile(*text, NameOf(options.profile), &error);
  if (!blocks) return Refuse(error);
  const auto servers = ServersOf(options, &error);
  if (!servers) return Refuse("--cluster: " + error);
  int gpus = 0;
  for (const pipeline::Server& server : *servers) gpus += server.gpus;
  if (gpus < options.stages) {
    return Refuse("--cluster: expected at least " + std::to_string(options.stages) + " GPUs, got " +
                  std::to_string(gpus));
  }
  const Problem problem = ProblemOf(options, *blocks);
  if (const std::string fault = FaultOf(problem); !fault.empty()) return Refuse(fault);
  auto mapping = pipeline::Map(problem, *servers, options.stages);
  if (!mapping) {
    return Refuse("expected GPUs whose memory takes a division of the model into " +
                      std::to_string(options.stages) +
                      " stages, and takes less than thirty years for an iteration, got none in all that was "
                      "searched: use faster GPUs, GPUs with more memory or more stages, or raise "
                      "--most-operations",
                  1);
  }
  PipelinePlan plan{.mapping = std::move(*mapping), .others = {}, .spans = {}};
  const Problem& found = plan.mapping.problem;
  plan.others = OthersOf(found, plan.mapping.division.time);
  if (options.slices) plan.mapping.division = Slice(found, plan.mapping.division);
  const pipeline::Shape shape = found.shape(plan.mapping.division.sliced);
  Simulate(shape, OrdersOf(shape), CostsOf(found, plan.mapping.division.borders), &plan.spans);
  return Show(options, plan);
}

}  // namespace crossover::cli
