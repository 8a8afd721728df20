#include "benchmarks/placement/traces/philly_trace.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <optional>
#include <stdexcept>

#include "benchmarks/placement/traces/table.h"

namespace crossover::benchmarks {
namespace {

constexpr double kHour = 3600, kShortest = 60, kMostGpuTime = 1000 * kHour;

// Parses a time such as "2017-10-09 07:01:55" into seconds since 1970.
double SecondsOf(const Row& row, const std::string& name) {
  using std::chrono::day, std::chrono::month, std::chrono::year;
  const std::string& text = row.Text(name);
  constexpr std::string_view kForm = "0000-00-00 00:00:00";
  bool good = text.size() == kForm.size();
  for (std::size_t i = 0; good && i < kForm.size(); ++i) {
    good = kForm[i] == '0' ? text[i] >= '0' && text[i] <= '9' : text[i] == kForm[i];
  }
  const auto part = [&](std::size_t from, std::size_t count) {
    int value = 0;
    std::from_chars(text.data() + from, text.data() + from + count, value);
    return value;
  };
  if (good) {
    const std::chrono::year_month_day date(year(part(0, 4)), month(static_cast<unsigned>(part(5, 2))),
                                           day(static_cast<unsigned>(part(8, 2))));
    const int hour = part(11, 2), minute = part(14, 2), second = part(17, 2);
    if (date.ok() && hour < 24 && minute < 60 && second < 60) {
      const auto days = std::chrono::sys_days(date).time_since_epoch().count();
      return static_cast<double>(days) * 86400 + hour * kHour + minute * 60 + second;
    }
  }
  row.Refuse(name, "a time such as 2017-10-09 07:01:55");
}

const char* ModelOf(double gpu_s, int line) {
  const bool odd = line % 2 == 1;
  if (gpu_s < kHour) return odd ? "ncf" : "cifar10";
  if (gpu_s < 10 * kHour) return odd ? "bert" : "deepspeech2";
  return gpu_s < 100 * kHour ? "yolov3" : "imagenet";
}

std::optional<Job> JobOf(const Row& row, const ModelSteps& steps) {
  Job job;
  job.id = row.line();
  job.gpus = row.Whole("num_gpus", 1, kMostGpus);
  job.submit_s = SecondsOf(row, "timestamp");
  const double length_s = row.Number("duration", 0);
  const double gpu_s = row.Number("gpu_time", 0);
  if (length_s < kShortest || gpu_s >= kMostGpuTime) return std::nullopt;
  job.model = ModelOf(gpu_s, row.line());
  const auto model = steps.find(job.model);
  if (model == steps.end()) return std::nullopt;
  const auto measured = model->second.find(job.gpus);
  if (measured == model->second.end()) return std::nullopt;
  const auto& [step_s, sync_s] = measured->second;
  job.iterations = length_s / step_s;
  job.iteration_s = step_s;
  job.stage = {0, step_s - sync_s, sync_s};
  return job;
}

}  // namespace

const std::vector<PhillyModel>& PhillyModels() {
  static const std::vector<PhillyModel> kModels = {{"bert", 12},      {"cifar10", 128}, {"deepspeech2", 20},
                                                   {"imagenet", 200}, {"ncf", 256},     {"yolov3", 8}};
  return kModels;
}

Trace ParsePhilly(std::istream& text, const std::string& file, const ModelSteps& steps,
                  const std::set<std::string>& clusters) {
  Trace trace;
  std::set<std::string> missing = clusters;
  EachRow(text, file, ',', {}, [&](const Row& row) {
    const std::string& cluster = row.Text("cluster");
    if (!clusters.empty() && !clusters.contains(cluster)) return;
    missing.erase(cluster);
    if (const std::optional<Job> job = JobOf(row, steps)) {
      trace.jobs.push_back(*job);
    } else {
      ++trace.left_out;
    }
  });
  if (!missing.empty())
    throw std::runtime_error(file + ": cluster \"" + *missing.begin() + "\" has no job there");
  std::ranges::stable_sort(trace.jobs, {}, &Job::submit_s);
  const double first_s = trace.jobs.empty() ? 0 : trace.jobs.front().submit_s;
  for (Job& job : trace.jobs) job.submit_s -= first_s;
  return trace;
}

}  // namespace crossover::benchmarks
