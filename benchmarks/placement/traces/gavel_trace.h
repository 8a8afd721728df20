// Reads Gavel's traces (github.com/stanford-futuredata/gavel, *.trace): the jobs of one virtual cluster of
// Philly, each given a model by Gavel's authors. A line has seven columns between tabs. There is no header.
//
// The files give GPUs (scale_factor), model (job_type) and submission (arrival_time). They also give the
// length alone: total_steps over the steps per second of that model on so many GPUs. The reader assumes that
// steps are counted over all GPUs (the rates grow with them), so an iteration takes GPUS / rate. What it
// takes longer than on one GPU is communication that nothing hides. The rest is computing, and nothing waits
// for input. The reader leaves out a job whose model was not measured on its GPU count.
#pragma once

#include <istream>
#include <string>

#include "benchmarks/placement/traces/job.h"
#include "benchmarks/placement/traces/rates.h"

namespace crossover::benchmarks {

// Parses a trace. Errors are those of table.h. A job's id is its line.
Trace ParseGavel(std::istream& text, const std::string& file, const Rates& rates);

}  // namespace crossover::benchmarks
