// The doctor's checks of a cluster. Pure.
#pragma once

#include <string>
#include <vector>

#include "cli/cluster/facts.h"
#include "cli/doctor/checks.h"

namespace crossover::cli {

// What one check finds: a line for each place, sorted by nothing; empty where all is well.
using Places = std::vector<std::string>;

struct ClusterCheck {
  const char* name;
  std::vector<const char*> needs;  // lists, without which nothing is known
  Verdict verdict;                 // where it finds something
  const char* well;                // what is said where it does not
  const char* advice;
  Places (*find)(const ClusterFacts& facts);
};

const std::vector<ClusterCheck>& ClusterChecks();
// All of them, in their order.
std::vector<Finding> ExamineCluster(const ClusterFacts& facts);

// installation.cc
Places MissingDefinitions(const ClusterFacts& facts);
Places NodesWithoutDaemon(const ClusterFacts& facts);
Places StaleGpuNodes(const ClusterFacts& facts);
Places DaemonsNotReady(const ClusterFacts& facts);
Places MpsNotReady(const ClusterFacts& facts);
Places ExtendersNotReady(const ClusterFacts& facts);
Places NobodyLeads(const ClusterFacts& facts);
Places SplitLeadership(const ClusterFacts& facts);
Places VersionSkew(const ClusterFacts& facts);
Places MissingWebhook(const ClusterFacts& facts);
Places WebhookWithoutCertificate(const ClusterFacts& facts);
Places RelabelledMetrics(const ClusterFacts& facts);
// gpus.cc
Places NodesWithoutGpus(const ClusterFacts& facts);
Places TwoOwners(const ClusterFacts& facts);
Places Strangers(const ClusterFacts& facts);
Places WithheldOtherwise(const ClusterFacts& facts);
Places MissingPreload(const ClusterFacts& facts);
Places SilentLibrary(const ClusterFacts& facts);
Places HeldOtherwise(const ClusterFacts& facts);
Places SharingWithoutMps(const ClusterFacts& facts);
Places UserClash(const ClusterFacts& facts);
Places SlotsOfTwo(const ClusterFacts& facts);
Places RanksOnOneGpu(const ClusterFacts& facts);
Places OtherGpusThanAssigned(const ClusterFacts& facts);
// switches.cc
Places SwitchedOff(const ClusterFacts& facts);
Places InMaintenance(const ClusterFacts& facts);
Places MistypedSwitches(const ClusterFacts& facts);
Places QuotasWithoutSlots(const ClusterFacts& facts);
Places LongWaits(const ClusterFacts& facts);

}  // namespace crossover::cli
