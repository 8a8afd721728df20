// Says in words what a JobProfile knows of the calls of its job (status.communication), whatever it contains.
// Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

// Names the shape that the groups of pods have together:
//
//   data parallel          a group has all pods
//   N groups of k          groups of equal size have all pods, each pod in one of them
//   pipeline of N stages   all pods send to neighbours along a chain; or N pipelines of k stages
//   grid q x r             two such families cross: q groups of r pods, and r groups with a pod of each
//
// Several names are separated by commas. Returns "" if no name fits.
std::string ShapeOf(const nlohmann::json& communication);

// Returns a line that says in how many runs the communication was seen, its shape, the largest of its groups,
// and whether pods are placed by it. Returns "" if nothing is known, or a part of it is malformed.
std::string CommunicationText(const nlohmann::json& communication);

}  // namespace crossover::cli
