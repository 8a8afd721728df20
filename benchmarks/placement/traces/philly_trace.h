// Reads jobs of Microsoft's Philly as Pollux's simulator keeps them (github.com/petuum/adaptdl, branch
// osdi21-artifact, simulator/traces/philly.csv). The file is CSV with a header.
//
// The file gives submission (timestamp), GPUs (num_gpus), the length alone (duration) and the virtual cluster
// (cluster). The model is assumed: Philly does not tell it. As in Pollux's own workloads it depends on GPU
// time: below one GPU hour cifar10 or ncf, below 10 deepspeech2 or bert, below 100 yolov3, else imagenet.
// Where there are two, odd lines of the file have one and even lines the other; Pollux draws lots. Each GPU
// has the batch with which the model begins in Pollux's experiments. So an iteration takes what was measured
// for it on so many T4 in packed nodes of four: step_time, of which sync_time is communication and the rest
// computing. Nothing waits for input. A job has as many iterations as fit its duration. The reader leaves out
// jobs of less than a minute and of 1,000 GPU hours or more, as Pollux's workloads do, and jobs with a GPU
// count that was not measured (above 16).
#pragma once

#include <istream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "benchmarks/placement/traces/job.h"
#include "benchmarks/placement/traces/steps.h"

namespace crossover::benchmarks {

struct PhillyModel {
  const char* name;
  int batch;  // per GPU
};
const std::vector<PhillyModel>& PhillyModels();

// Holds the steps of each model, by GPU count.
using ModelSteps = std::map<std::string, std::map<int, Step>>;

// Parses the jobs of `clusters`, or of all clusters where it is empty. The first job comes at 0. A job's id
// is its line. Errors are those of table.h. A cluster without a job is an error, too.
Trace ParsePhilly(std::istream& text, const std::string& file, const ModelSteps& steps,
                  const std::set<std::string>& clusters);

}  // namespace crossover::benchmarks
