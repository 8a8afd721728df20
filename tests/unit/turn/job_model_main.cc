// Runs the job model once and prints one JSON line. It says at what part of its own speed each job runs,
// with the draws that it had.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "deviceplugin/arbiter/cap_admission.h"
#include "tests/unit/turn/job_model.h"
#include "tests/unit/turn/job_model_arguments.h"
#include "tests/unit/turn/job_model_daemon.h"

namespace {

using crossover::turn::Time;
using namespace crossover::turn::test;

constexpr double kMs = 1e6;

// Sets the caps that the daemon grants to jobs that came one after the other. Returns how many caps it
// refuses.
int SetCaps(const std::vector<double>& caps, std::vector<JobShape>* jobs) {
  constexpr Time kLater = 60'000'000'000;
  crossover::arbiter::CapAdmission caps_given;
  for (crossover::turn::SlotIndex job = 0; job < jobs->size(); ++job) {
    caps_given.Join(job, std::to_string(job), job < caps.size() ? caps[job] : 0, job * kLater);
  }
  caps_given.Judge([&jobs](crossover::turn::SlotIndex job) -> crossover::arbiter::CapAdmission::Need {
    return {(*jobs)[job].demand(), 1};
  });
  int refused = 0;
  for (crossover::turn::SlotIndex job = 0; job < jobs->size(); ++job) {
    (*jobs)[job].cap = caps_given.cap(job);
    (*jobs)[job].profiled = job < caps.size();
    refused += caps_given.refused(job) ? 1 : 0;
  }
  return refused;
}

// Returns the work per time, over that of one job after the other, for the whole run and with the draws
// that it had.
double TrueGain(const JobModelOptions& options, const JobModelResult& result, Time end) {
  double gain = 0;
  for (std::size_t job = 0; job < options.jobs.size(); ++job)
    gain += MeanAloneWithin(options, result, job, 0, end) / MeanStepWithin(result, job, 0, end);
  return gain;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string_view> texts(argv + 1, argv + argc);
  auto parsed = ParseJobModelArguments(texts);
  if (const auto* error = std::get_if<std::string>(&parsed)) {
    std::fprintf(stderr, "%s: %s\nusage: %s KEY=VALUE ...\n%s", argv[0], error->c_str(), argv[0],
                 JobModelUsage().c_str());
    return 2;
  }
  auto& [options, seconds, whole, caps, gpus_here] = std::get<JobModelArguments>(parsed);
  const int refused = SetCaps(caps, &options.jobs);
  double longest = 0;
  for (const JobShape& job : options.jobs)
    longest = std::max(longest, static_cast<double>(job.compute + job.communicate));
  // A run that counts as a whole lasts for `seconds` at least, whatever the rates of its jobs are.
  options.iterations = static_cast<int>(seconds * 1e9 / longest / (whole ? 1 : 2));

  JobModelDaemon daemon(options.jobs.size(), options.gpus, gpus_here == 0 ? options.gpus : gpus_here);
  options.observer = &daemon;
  const JobModelResult result = RunJobModel(options);
  Time end = crossover::turn::kNever;
  for (const auto& ends : result.ends) end = std::min(end, ends.back());
  if (whole) end = std::min(end, static_cast<Time>(seconds * 1e9));
  const Time begin = whole ? 0 : end / 2;
  std::printf("{\"rates\": [");
  for (std::size_t job = 0; job < options.jobs.size(); ++job) {
    std::printf("%s%.4f", job == 0 ? "" : ", ",
                MeanAloneWithin(options, result, job, begin, end) / MeanStepWithin(result, job, begin, end));
  }
  std::printf("], \"waits_ms\": [");
  for (std::size_t job = 0; job < options.jobs.size(); ++job) {
    std::printf("%s%.1f", job == 0 ? "" : ", ", static_cast<double>(result.longest_wait[job]) / kMs);
  }
  using crossover::turn::Way;
  std::printf(
      "], \"refused\": %d, \"overlaps\": %d, \"preempted\": %llu, \"way\": %d, "
      "\"measured\": [%.4f, %.4f], \"lost_ms\": %.1f, \"gain\": %.4f, \"reported\": [",
      refused, result.overlaps, static_cast<unsigned long long>(result.stats.preempted),
      static_cast<int>(result.guard.settled()), result.guard.rate(Way::kTurns),
      result.guard.rate(Way::kSideBySide), static_cast<double>(result.guard.lost()) / kMs,
      TrueGain(options, result, end));
  for (std::size_t i = 0; i < daemon.gains().size(); ++i) {
    const JobModelDaemon::Gain& gain = daemon.gains()[i];
    std::printf(
        "%s{\"at_s\": %.1f, \"gain\": %.4f, \"error\": %.4f, \"uncertain\": %s, \"of_one_gpu\": %.4f}",
        i == 0 ? "" : ", ", static_cast<double>(gain.at) / 1e9, gain.gain, gain.error,
        gain.uncertain ? "true" : "false", daemon.gains_of_one_gpu()[i]);
  }
  std::printf("]}\n");
  return 0;
}
