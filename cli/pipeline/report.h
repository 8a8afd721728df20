// Shows the plan of a pipeline: as JSON, as a table, and as a picture. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "pipeline/mapping.h"

namespace crossover::cli {

// A Compared is the time of an iteration by another way. kNever: that way is not possible here.
struct Compared {
  const char* name;
  pipeline::Time time = pipeline::kNever;
};

// A PipelinePlan is what was found. The operations are those of an iteration of it.
struct PipelinePlan {
  pipeline::Mapping mapping;
  std::vector<Compared> others;
  std::vector<pipeline::Span> spans;
};

nlohmann::json PipelineJson(const PipelinePlan& plan);
std::string PipelineTable(const PipelinePlan& plan);
// Returns an HTML page that needs no other file: a row for each device, and a box for each operation.
std::string PipelinePicture(const PipelinePlan& plan);

}  // namespace crossover::cli
