#include "examples/trainer/rank_log.h"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "examples/trainer/failure.h"
#include "examples/trainer/parameters.h"

namespace crossover::trainer {

std::ofstream OpenLog(const Options& options, const Rank& rank) {
  std::ofstream file;
  if (options.log.empty()) return file;
  const std::string path = LogPath(options.log, rank.rank);
  file.open(path);
  if (!file) throw Failure("--log=" + path + ": " + std::strerror(errno), 2);
  return file;
}

void SumUp(const std::vector<IterationRecord>& records, const std::vector<float>& losses, Summary* summary) {
  std::vector<std::int64_t> steps, computes;
  for (const IterationRecord& record : records) {
    steps.push_back(record.end_ns - record.begin_ns);
    computes.push_back(record.compute_ns);
  }
  summary->iterations = records.size();
  summary->median_step_ns = Median(steps);
  summary->median_compute_ns = Median(computes);
  summary->losses_digest = Digest(losses.data(), records.size() * sizeof(float));
}

void WriteLog(std::ofstream& file, const Options& options, const Rank& rank,
              const std::vector<IterationRecord>& records, const std::vector<float>& losses,
              const std::vector<EvaluationRecord>& evaluations, const Summary& summary) {
  const std::string summary_line = SummaryLine(rank.rank, summary);
  if (rank.rank == 0) std::fputs(summary_line.c_str(), stdout);
  if (options.log.empty()) return;
  for (std::size_t i = 0; i < records.size(); ++i) file << IterationLine(rank.rank, records[i], losses[i]);
  for (const EvaluationRecord& evaluation : evaluations) file << EvaluationLine(rank.rank, evaluation);
  file << summary_line;
  file.close();
  if (!file) throw Failure("--log=" + LogPath(options.log, rank.rank) + ": cannot write all of it");
}

}  // namespace crossover::trainer
