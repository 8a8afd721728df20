#include "benchmarks/placement/trace.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace crossover::benchmarks {
namespace {

std::vector<std::string> Cells(const std::string& line) {
  std::vector<std::string> cells;
  std::istringstream stream(line);
  for (std::string cell; std::getline(stream, cell, ',');) {
    if (!cell.empty() && cell.back() == '\r') cell.pop_back();
    cells.push_back(cell);
  }
  return cells;
}

// One line by the names of its columns.
class Row {
 public:
  Row(std::string where, const std::vector<std::string>& names, const std::vector<std::string>& cells)
      : where_(std::move(where)) {
    for (std::size_t i = 0; i < std::min(names.size(), cells.size()); ++i) cells_[names[i]] = cells[i];
  }
  std::string Text(const std::string& name) const {
    const auto found = cells_.find(name);
    if (found == cells_.end()) throw std::runtime_error(where_ + ": no column " + name);
    return found->second;
  }
  double Number(const std::string& name, double least) const {
    const std::string text = Text(name);
    std::size_t end = 0;
    double value = least - 1;
    try {
      value = std::stod(text, &end);
    } catch (const std::logic_error&) {
      end = 0;
    }
    if (end == 0 || end != text.size() || !(value >= least)) {
      throw std::runtime_error(where_ + ": " + name + " is \"" + text + "\"; a number from " +
                               std::to_string(least) + " is needed");
    }
    return value;
  }

 private:
  std::string where_;
  std::map<std::string, std::string> cells_;
};

Job JobOf(const Row& row) {
  Job job;
  job.id = static_cast<int>(row.Number("job_id", 0));
  job.gpus = static_cast<int>(row.Number("num_gpu", 1));
  job.model = row.Text("model_name");
  job.submit_s = row.Number("submit_time", 0) / 1000;
  job.iterations = row.Number("iterations", 1);
  job.iteration_s = row.Number("iteration_time", 0.001) / 1000;
  for (std::size_t i = 0; i < job.stage.size(); ++i) {
    job.stage[i] = row.Number("resource_time_" + std::to_string(i), 0) / 1000;
  }
  return job;
}

}  // namespace

std::vector<Job> ReadTrace(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!file || !std::getline(file, line)) throw std::runtime_error(path + ": cannot be read");
  const std::vector<std::string> names = Cells(line);
  std::vector<Job> jobs;
  for (int number = 2; std::getline(file, line); ++number) {
    if (!line.empty()) jobs.push_back(JobOf(Row(path + ":" + std::to_string(number), names, Cells(line))));
  }
  std::ranges::stable_sort(jobs, {}, &Job::submit_s);
  return jobs;
}

}  // namespace crossover::benchmarks
