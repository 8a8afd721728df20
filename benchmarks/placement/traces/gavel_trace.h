// Gavel's traces (github.com/stanford-futuredata/gavel, *.trace): the jobs of one virtual cluster of Philly,
// each given a model by Gavel's authors. Seven columns between tabs, without a header.
//
// From the files: GPUs (scale_factor), model (job_type), submission (arrival_time), and the length alone:
// total_steps over the steps per second of that model on so many GPUs. Assumed: steps are counted over all
// GPUs (the rates grow with them), so an iteration takes GPUS / rate; what it takes longer than on one GPU is
// communication that nothing hides, and the rest computing; nothing waits for input. A job whose model was
// not measured on its GPU count is left out.
#pragma once

#include <istream>
#include <string>

#include "benchmarks/placement/traces/job.h"
#include "benchmarks/placement/traces/rates.h"

namespace crossover::benchmarks {

// Errors: table.h. A job's id is its line.
Trace ParseGavel(std::istream& text, const std::string& file, const Rates& rates);

}  // namespace crossover::benchmarks
