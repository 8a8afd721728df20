#include "benchmarks/placement/report.h"

#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>

namespace crossover::benchmarks {
namespace {

// Opens a CSV file with fixed notation: the default of six digits does not tell seconds of a trace of
// months.
std::ofstream Begun(const std::string& path) {
  std::ofstream file(path);
  file << std::fixed << std::setprecision(3);
  return file;
}

void End(std::ofstream file, const std::string& path) {
  if (!file.flush()) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace

void WriteJobs(const Outcome& outcome, const std::string& path) {
  std::ofstream file = Begun(path);
  file << "job_id,num_gpu,submit_s,start_s,end_s,length_s,restarts\n";
  for (const Ended& e : outcome.jobs) {
    file << e.job->id << ',' << e.job->gpus << ',' << e.job->submit_s << ',' << e.start_s << ',' << e.end_s
         << ',' << e.job->length_s() << ',' << e.restarts << '\n';
  }
  End(std::move(file), path);
}

void WriteOccupancy(const Outcome& outcome, const std::string& path) {
  std::ofstream file = Begun(path);
  file << "from_s,held_gpus,there_gpus,running,waiting\n";
  for (const Moment& m : outcome.moments) {
    file << m.from_s << ',' << m.held_gpus << ',' << m.there_gpus << ',' << m.running << ',' << m.waiting
         << '\n';
  }
  End(std::move(file), path);
}

std::string LineOf(const Outcome& outcome, const std::string& policy, int left_out) {
  std::ostringstream line;
  const auto put = [&](const char* name, double value, int digits) {
    line << ", \"" << name << "\": " << std::fixed << std::setprecision(digits) << value;
  };
  line << "{\"policy\": \"" << policy << "\", \"jobs\": " << outcome.jobs.size();
  line << ", \"left_out\": " << left_out;
  put("completion_s", outcome.mean_completion_s(), 3);
  put("makespan_s", outcome.makespan_s(), 3);
  put("slowdown", outcome.mean_slowdown(), 4);
  put("slowdown_p50", outcome.Quantile(0.5, &Ended::slowdown), 4);
  put("slowdown_p99", outcome.Quantile(0.99, &Ended::slowdown), 4);
  put("wait_s", outcome.Mean(&Ended::wait_s), 3);
  put("wait_s_p99", outcome.Quantile(0.99, &Ended::wait_s), 3);
  put("longest_wait_s", outcome.Quantile(1, &Ended::wait_s), 3);
  put("occupancy", outcome.occupancy(), 4);
  line << ", \"restarts\": " << outcome.restarts() << '}';
  return line.str();
}

}  // namespace crossover::benchmarks
