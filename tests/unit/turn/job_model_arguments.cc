#include "tests/unit/turn/job_model_arguments.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace crossover::turn::test {
namespace {

constexpr double kUs = 1e3;
constexpr double kMs = 1e6;
constexpr double kMost = 1e7;  // upper bound of any number

std::optional<double> NumberIn(std::string_view text, double least, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value >= least && value <= most))
    return std::nullopt;
  return value;
}

std::vector<std::string_view> Split(std::string_view text) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t comma = text.find(',');
    parts.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

// Parsed holds what the command line says so far. The options that belong to all jobs go into the jobs when
// all of them are known.
struct Parsed {
  JobModelArguments arguments;
  JobShape common;  // width, tail, batch
};

template <class Target>
bool Put(std::string_view text, double least, double most, double unit, Target* target) {
  const std::optional<double> value = NumberIn(text, least, most);
  if (!value) return false;
  *target = static_cast<Target>(*value * unit);
  return true;
}

bool PutWhole(std::string_view text, double least, double most, double unit, auto* target) {
  const std::optional<double> value = NumberIn(text, least, most);
  return value && *value == std::floor(*value) && Put(text, least, most, unit, target);
}

bool PutWay(std::string_view text, JobModelOptions* options) {
  options->guard = text == "guard";
  options->way = text == "side_by_side" ? Way::kSideBySide : Way::kTurns;
  return options->guard || text == "side_by_side" || text == "turns";
}

bool PutCaps(std::string_view text, std::vector<double>* caps) {
  caps->clear();
  for (const std::string_view part : Split(text)) {
    const std::optional<double> cap = NumberIn(part, 0, 100);
    if (!cap || (*cap != 0 && *cap <= 1)) return false;
    caps->push_back(*cap);
  }
  return true;
}

bool PutPriority(std::string_view text, Priority* priority) {
  *priority = text == "low" ? Priority::kLow : text == "high" ? Priority::kHigh : Priority::kNormal;
  return text == "low" || text == "high" || text == "normal";
}

bool PutJob(std::string_view text, std::vector<JobShape>* jobs) {
  const std::vector<std::string_view> parts = Split(text);
  const std::size_t count = parts.size();
  if (count < 2 || count == 7 || count > 8 || jobs->size() == kMaxSlots) return false;
  JobShape shape;
  constexpr double kLeast = 1e-3;
  const bool good = Put(parts[0], kLeast, kMost, kMs, &shape.compute) &&
                    Put(parts[1], kLeast, kMost, kMs, &shape.communicate) &&
                    (count < 3 || Put(parts[2], 0, 0.3, 1, &shape.jitter)) &&
                    (count < 4 || Put(parts[3], 1, kMost, kUs, &shape.kernel)) &&
                    (count < 5 || Put(parts[4], 0, kMost, kMs, &shape.starts)) &&
                    (count < 6 || PutPriority(parts[5], &shape.priority)) &&
                    (count < 8 || (Put(parts[6], kLeast, kMost, kMs, &shape.prologue) &&
                                   Put(parts[7], 0, kMost, kMs, &shape.stall)));
  if (good) jobs->push_back(shape);
  return good;
}

struct Option {
  std::string_view key;
  std::string_view expected;
  std::string_view meaning;
  bool (*put)(std::string_view text, Parsed* parsed);
};

constexpr auto kOptions = std::to_array<Option>({
    {"gpus", "a whole number from 1 to 1024", "GPUs, on each of which every job has a rank",
     [](std::string_view text, Parsed* p) { return PutWhole(text, 1, 1024, 1, &p->arguments.options.gpus); }},
    {"gpus_here", "a whole number from 1 to 1024, gpus at most",
     "GPUs of the node whose daemon reports its gain; all",
     [](std::string_view text, Parsed* p) { return PutWhole(text, 1, 1024, 1, &p->arguments.gpus_here); }},
    {"hand_over_us", "a whole number from 0 to 1000000", "from an opened gate to the first kernel behind it",
     [](std::string_view text, Parsed* p) {
       return PutWhole(text, 0, 1e6, kUs, &p->arguments.options.hand_over);
     }},
    {"quantum_us", "a whole number from 0 to 1000000", "the policy's quantum; 0: turns stay whole",
     [](std::string_view text, Parsed* p) {
       return PutWhole(text, 0, 1e6, kUs, &p->arguments.options.policy.quantum);
     }},
    {"seed", "a whole number from 0 to 1000000", "of all draws",
     [](std::string_view text, Parsed* p) { return PutWhole(text, 0, 1e6, 1, &p->arguments.options.seed); }},
    {"seconds", "a number from 0.1 to 100000", "how long the run lasts, about",
     [](std::string_view text, Parsed* p) { return Put(text, 0.1, 1e5, 1, &p->arguments.seconds); }},
    {"links", "private or shared", "whether the jobs' collectives share one link",
     [](std::string_view text, Parsed* p) {
       p->arguments.options.shared_link = text == "shared";
       return text == "shared" || text == "private";
     }},
    {"way", "turns, side_by_side or guard", "how the jobs share each GPU",
     [](std::string_view text, Parsed* p) { return PutWay(text, &p->arguments.options); }},
    {"counted", "half or whole",
     "whether rates are of the second half of the run or from the jobs' meeting on",
     [](std::string_view text, Parsed* p) {
       p->arguments.whole = text == "whole";
       return text == "whole" || text == "half";
     }},
    {"caps", "0 (none) or a number over 1 to 100 for each of the first jobs, with commas",
     "caps on slowdown; such jobs have a profile",
     [](std::string_view text, Parsed* p) { return PutCaps(text, &p->arguments.caps); }},
    {"width", "a number from 0.01 to 1", "share of a GPU that a job's kernels can use",
     [](std::string_view text, Parsed* p) { return Put(text, 0.01, 1, 1, &p->common.width); }},
    {"tail", "a number from 0 to 1", "share of rank-iterations that take one to three times as long",
     [](std::string_view text, Parsed* p) { return Put(text, 0, 1, 1, &p->common.tail); }},
    {"batch", "a number from 0 to 1",
     "sigma of the logarithm of an iteration's compute, alike on all ranks of a job",
     [](std::string_view text, Parsed* p) { return Put(text, 0, 1, 1, &p->common.batch); }},
    {"spinning", "a number from 0 to 0.9", "share of each GPU that every collective that runs holds",
     [](std::string_view text, Parsed* p) { return Put(text, 0, 0.9, 1, &p->arguments.options.spinning); }},
    {"co_run", "a number from 0.5 to 2",
     "what the joint speed of several jobs' kernels that run at once on a GPU is multiplied by",
     [](std::string_view text, Parsed* p) { return Put(text, 0.5, 2, 1, &p->arguments.options.co_run); }},
    {"slow_comm", "a number from 0 to 10", "a collective takes 1 + this times as long while any GPU computes",
     [](std::string_view text, Parsed* p) { return Put(text, 0, 10, 1, &p->arguments.options.slow_comm); }},
    {"job",
     "C_MS,M_MS[,JITTER[,KERNEL_US[,STARTS_MS[,low|normal|high[,PROLOGUE_MS,STALL_MS]]]]], C_MS and M_MS "
     "over 0, "
     "JITTER from 0 to 0.3, 15 jobs at most",
     "one more job: what its ranks compute and what its all-reduce takes, each iteration",
     [](std::string_view text, Parsed* p) { return PutJob(text, &p->arguments.options.jobs); }},
});

std::string Refusal(std::string_view key, std::string_view value, std::string_view expected) {
  return std::string(key) + "=" + std::string(value) + ": expected " + std::string(expected);
}

std::string KnownKeys() {
  std::string keys;
  for (const Option& option : kOptions) keys += (keys.empty() ? "" : ", ") + std::string(option.key);
  return keys;
}

// Reads one KEY=VALUE into `*parsed`. Returns the error, or an empty string if there is none.
std::string PutOne(std::string_view text, Parsed* parsed) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos)
    return std::string(text) + ": expected KEY=VALUE, KEY one of " + KnownKeys();
  const std::string_view key = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  const auto option = std::ranges::find(kOptions, key, &Option::key);
  if (option == kOptions.end()) return Refusal(key, value, "a KEY that is one of " + KnownKeys());
  return option->put(value, parsed) ? "" : Refusal(key, value, option->expected);
}

// Checks the options against each other. Returns the error, or an empty string if there is none.
std::string Together(const JobModelArguments& arguments) {
  const std::size_t jobs = arguments.options.jobs.size();
  if (jobs == 0) return "job: expected one at least, job=C_MS,M_MS";
  if (arguments.gpus_here > arguments.options.gpus)
    return "gpus_here=" + std::to_string(arguments.gpus_here) + ": expected gpus at most, which is " +
           std::to_string(arguments.options.gpus);
  if (arguments.caps.size() > jobs)
    return "caps: expected " + std::to_string(jobs) + " at most, one for each job, got " +
           std::to_string(arguments.caps.size());
  if (arguments.options.spinning * static_cast<double>(jobs) > 0.95)
    return "spinning: expected 0.95 at most for all " + std::to_string(jobs) +
           " jobs together, or nothing is left to compute with";
  return "";
}

}  // namespace

std::variant<JobModelArguments, std::string> ParseJobModelArguments(std::span<const std::string_view> texts) {
  Parsed parsed;
  parsed.arguments.options.gpus = 4;
  for (const std::string_view text : texts) {
    if (std::string error = PutOne(text, &parsed); !error.empty()) return error;
  }
  for (JobShape& job : parsed.arguments.options.jobs) {
    job.width = parsed.common.width;
    job.tail = parsed.common.tail;
    job.batch = parsed.common.batch;
  }
  if (std::string error = Together(parsed.arguments); !error.empty()) return error;
  return std::move(parsed.arguments);
}

std::string JobModelUsage() {
  std::string usage;
  for (const Option& option : kOptions) {
    usage += "  " + std::string(option.key) + "=  " + std::string(option.meaning) + "\n      " +
             std::string(option.expected) + "\n";
  }
  return usage;
}

}  // namespace crossover::turn::test
