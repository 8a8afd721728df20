// Opens and writes the log file of a rank. Throws Failure.
#pragma once

#include <fstream>
#include <vector>

#include "examples/trainer/log.h"
#include "examples/trainer/options.h"

namespace crossover::trainer {

// Returns an output stream, without a file if no log is wanted.
std::ofstream OpenLog(const Options& options, const Rank& rank);

// Sets what the summary says of the iterations.
void SumUp(const std::vector<IterationRecord>& records, const std::vector<float>& losses, Summary* summary);

// Prints the summary (rank 0 only), and writes all that was measured to the file, if there is one.
void WriteLog(std::ofstream& file, const Options& options, const Rank& rank,
              const std::vector<IterationRecord>& records, const std::vector<float>& losses,
              const std::vector<EvaluationRecord>& evaluations, const Summary& summary);

}  // namespace crossover::trainer
