// Runs `kubectl crossover timeline`, which shows the turns on a node, as its daemon knows them.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct ClusterTimelineOptions {
  std::string node;
  std::vector<std::string> words;  // arguments of `crossover timeline`
  Showing show;                    // watch_s is empty with --follow
};

// Returns whether the turns are shown as they are taken.
bool Follows(const ClusterTimelineOptions& options);
// Prints the turns and returns the exit code. Both text formats print what `crossover timeline` prints
// there. With --follow each turn is one line of JSON, or one YAML document.
int ClusterTimeline(const Kubectl& kubectl, const ClusterTimelineOptions& options);

}  // namespace crossover::cli
