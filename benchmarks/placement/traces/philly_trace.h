// Jobs of Microsoft's Philly as Pollux's simulator keeps them (github.com/petuum/adaptdl, branch
// osdi21-artifact, simulator/traces/philly.csv): CSV with a header.
//
// From the file: submission (timestamp), GPUs (num_gpus), the length alone (duration), the virtual cluster
// (cluster). Assumed: the model, which Philly does not tell. As in Pollux's own workloads it goes by GPU
// time: below one GPU hour cifar10 or ncf, below 10 deepspeech2 or bert (each the other on odd and even lines
// of the file, where Pollux draws lots), below 100 yolov3, else imagenet. Each GPU has the batch with which
// the model begins in Pollux's experiments, so an iteration takes what was measured for it on so many T4 in
// packed nodes of four: step_time, of which sync_time is communication and the rest computing; nothing waits
// for input. A job has as many iterations as fit its duration. Left out: as in Pollux's workloads, jobs of
// less than a minute and of 1,000 GPU hours or more; and those with a GPU count that was not measured (above
// 16).
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

// By model.
using ModelSteps = std::map<std::string, std::map<int, Step>>;

// `clusters`: of which jobs are taken; empty: of all. The first job comes at 0. A job's id is its line.
// Errors: table.h; also where a cluster has no job.
Trace ParsePhilly(std::istream& text, const std::string& file, const ModelSteps& steps,
                  const std::set<std::string>& clusters);

}  // namespace crossover::benchmarks
