// kubectl crossover timeline: the turns of a node, as its daemon knows them.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster/kubectl.h"
#include "cli/cluster/rounds.h"

namespace crossover::cli {

struct ClusterTimelineOptions {
  std::string node;
  std::vector<std::string> words;  // of `crossover timeline`
  Showing show;                    // what comes as it is taken is not watched
};

// Whether turns are shown as they are taken.
bool Follows(const ClusterTimelineOptions& options);
// As people see it: what `crossover timeline` writes there, narrow or wide. Turns that come as they are taken
// are a line of JSON each, or a YAML document.
int ClusterTimeline(const Kubectl& kubectl, const ClusterTimelineOptions& options);

}  // namespace crossover::cli
