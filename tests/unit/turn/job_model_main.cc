// One run of the job model, summed up in one JSON line: at what part of its own speed each job runs.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/promises.h"
#include "tests/unit/turn/job_model.h"

namespace {

using crossover::turn::Time;
using namespace crossover::turn::test;

constexpr double kMs = 1e6;

int Fail(const char* program) {
  std::fprintf(
      stderr,
      "usage: %s way=turns|side_by_side|guard width=X gpus=N hand_over_us=N quantum_us=N seed=N seconds=N "
      "co_run=X "
      "links=private|shared caps=X,Y "
      "job=C_MS,M_MS[,JITTER[,KERNEL_US[,STARTS_MS[,low|normal|high[,PROLOGUE_MS,STALL_MS]]]]] ...\n",
      program);
  return 2;
}

crossover::turn::Priority PriorityOf(const char* name) {
  if (std::strcmp(name, "low") == 0) return crossover::turn::Priority::kLow;
  return std::strcmp(name, "high") == 0 ? crossover::turn::Priority::kHigh
                                        : crossover::turn::Priority::kNormal;
}

// The caps of jobs that came one after the other, as far as the daemon promises them. Returns how many it
// refuses.
int SetCaps(const std::vector<double>& caps, std::vector<JobShape>* jobs) {
  constexpr Time kLater = 60'000'000'000;
  crossover::arbiter::Promises promises;
  for (crossover::turn::SlotIndex job = 0; job < jobs->size(); ++job) {
    promises.Join(job, std::to_string(job), job < caps.size() ? caps[job] : 0, job * kLater);
  }
  promises.Judge([&jobs](crossover::turn::SlotIndex job) -> crossover::arbiter::Promises::Need {
    return {(*jobs)[job].demand(), 1};
  });
  int refused = 0;
  for (crossover::turn::SlotIndex job = 0; job < jobs->size(); ++job) {
    (*jobs)[job].cap = promises.cap(job);
    (*jobs)[job].profiled = job < caps.size();
    refused += promises.refused(job) ? 1 : 0;
  }
  return refused;
}

bool ParseJob(const char* text, JobShape* shape) {
  double compute = 0, communicate = 0, kernel = 500, starts = 0, prologue = 0, stall = 0;
  char priority[8] = "normal";
  const int fields = std::sscanf(text, "%lf,%lf,%lf,%lf,%lf,%7[a-z],%lf,%lf", &compute, &communicate,
                                 &shape->jitter, &kernel, &starts, priority, &prologue, &stall);
  shape->compute = static_cast<Time>(compute * kMs);
  shape->communicate = static_cast<Time>(communicate * kMs);
  shape->prologue = static_cast<Time>(prologue * kMs);
  shape->stall = static_cast<Time>(stall * kMs);
  shape->kernel = static_cast<Time>(kernel * 1e3);
  shape->starts = static_cast<Time>(starts * kMs);
  shape->priority = PriorityOf(priority);
  return fields >= 2 && compute > 0 && communicate > 0 && kernel > 0;
}

}  // namespace

int main(int argc, char** argv) {
  JobModelOptions options;
  options.gpus = 4;
  double seconds = 10;
  double width = 1;
  std::vector<double> caps;
  for (int i = 1; i < argc; ++i) {
    char* value = std::strchr(argv[i], '=');
    if (value == nullptr) return Fail(argv[0]);
    const std::string key(argv[i], value++);
    JobShape shape;
    shape.width = width;
    if (key == "gpus") {
      options.gpus = std::atoi(value);
    } else if (key == "hand_over_us") {
      options.hand_over = std::atoi(value) * 1000;
    } else if (key == "quantum_us") {
      options.policy.quantum = std::atoi(value) * 1000;
    } else if (key == "seed") {
      options.seed = static_cast<std::uint64_t>(std::atoi(value));
    } else if (key == "seconds") {
      seconds = std::atof(value);
    } else if (key == "links") {
      options.shared_link = std::strcmp(value, "shared") == 0;
    } else if (key == "way") {
      options.guard = std::strcmp(value, "guard") == 0;
      if (std::strcmp(value, "side_by_side") == 0) options.way = crossover::turn::Way::kSideBySide;
    } else if (key == "caps") {
      for (char* end = value; *value != '\0'; value = *end == ',' ? end + 1 : end) {
        caps.push_back(std::strtod(value, &end));
        if (end == value) return Fail(argv[0]);
      }
    } else if (key == "co_run") {
      options.co_run = std::atof(value);
    } else if (key == "width") {
      width = std::atof(value);
    } else if (key == "job" && ParseJob(value, &shape)) {
      options.jobs.push_back(shape);
    } else {
      return Fail(argv[0]);
    }
  }
  if (options.jobs.empty() || options.gpus < 1 || options.co_run <= 0) return Fail(argv[0]);
  const int refused = SetCaps(caps, &options.jobs);
  double longest = 0;
  for (const JobShape& job : options.jobs)
    longest = std::max(longest, static_cast<double>(job.compute + job.communicate));
  options.iterations = static_cast<int>(seconds * 1e9 / longest / 2);

  const JobModelResult result = RunJobModel(options);
  Time end = crossover::turn::kNever;
  for (const auto& ends : result.ends) end = std::min(end, ends.back());
  std::printf("{\"rates\": [");
  for (std::size_t job = 0; job < options.jobs.size(); ++job) {
    const double solo = static_cast<double>(options.jobs[job].compute + options.jobs[job].communicate +
                                            options.jobs[job].prologue + options.jobs[job].stall);
    std::printf("%s%.4f", job == 0 ? "" : ", ", solo / MeanStepWithin(result, job, end / 2, end));
  }
  std::printf("], \"waits_ms\": [");
  for (std::size_t job = 0; job < options.jobs.size(); ++job) {
    std::printf("%s%.1f", job == 0 ? "" : ", ", static_cast<double>(result.longest_wait[job]) / kMs);
  }
  using crossover::turn::Way;
  std::printf(
      "], \"refused\": %d, \"overlaps\": %d, \"preempted\": %llu, \"way\": %d, "
      "\"measured\": [%.4f, %.4f]}\n",
      refused, result.overlaps, static_cast<unsigned long long>(result.stats.preempted),
      static_cast<int>(result.guard.settled()), result.guard.rate(Way::kTurns),
      result.guard.rate(Way::kSideBySide));
  return 0;
}
