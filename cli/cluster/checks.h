// Declares the checks of `kubectl crossover doctor`. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "cli/cluster/facts.h"
#include "cli/doctor/checks.h"

namespace crossover::cli {

// Places are what one check finds, one line each, in no order. They are empty if all is well.
using Places = std::vector<std::string>;

// A ClusterCheck is one check with its texts.
struct ClusterCheck {
  const char* name;
  std::vector<const char*> needs;  // lists in ClusterFacts; if one is missing, the verdict is unknown
  Verdict verdict;                 // if the check finds something
  const char* well;                // the text if it finds nothing
  const char* advice;
  Places (*find)(const ClusterFacts& facts);
};

// Returns all checks.
const std::vector<ClusterCheck>& ClusterChecks();
// Runs all checks and returns their findings in the order of ClusterChecks().
std::vector<Finding> ExamineCluster(const ClusterFacts& facts);

// installation.cc has these checks.
Places MissingDefinitions(const ClusterFacts& facts);
Places NodesWithoutDaemon(const ClusterFacts& facts);
Places StaleGpuNodes(const ClusterFacts& facts);
Places DaemonsNotReady(const ClusterFacts& facts);
Places MpsNotReady(const ClusterFacts& facts);
Places ExtendersNotReady(const ClusterFacts& facts);
Places NoLeader(const ClusterFacts& facts);
Places SplitLeadership(const ClusterFacts& facts);
Places VersionSkew(const ClusterFacts& facts);
Places MissingWebhook(const ClusterFacts& facts);
Places WebhookWithoutCertificate(const ClusterFacts& facts);
Places RelabelledMetrics(const ClusterFacts& facts);
// gpus.cc has these checks.
Places NodesWithoutGpus(const ClusterFacts& facts);
Places TwoOwners(const ClusterFacts& facts);
Places OperatorLabels(const ClusterFacts& facts);
Places DraDrivers(const ClusterFacts& facts);
Places Strangers(const ClusterFacts& facts);
Places MpsTakesNoClients(const ClusterFacts& facts);
Places WithheldOtherwise(const ClusterFacts& facts);
Places UnknownMemory(const ClusterFacts& facts);
Places MissingPreload(const ClusterFacts& facts);
Places SilentLibrary(const ClusterFacts& facts);
Places HeldOtherwise(const ClusterFacts& facts);
Places SharingWithoutMps(const ClusterFacts& facts);
Places UserClash(const ClusterFacts& facts);
Places HiddenShm(const ClusterFacts& facts);
Places SlotsOfTwo(const ClusterFacts& facts);
Places RanksOnOneGpu(const ClusterFacts& facts);
Places OtherGpusThanAssigned(const ClusterFacts& facts);
// switches.cc has these checks.
Places SwitchedOff(const ClusterFacts& facts);
Places InMaintenance(const ClusterFacts& facts);
Places MistypedSwitches(const ClusterFacts& facts);
Places LongWaits(const ClusterFacts& facts);
// autoscalers.cc has these checks.
Places PodsThatAutoscalersMove(const ClusterFacts& facts);
Places NodesThatCountAsUnready(const ClusterFacts& facts);
// descheduler.cc has this check.
Places PodsThatTheDeschedulerMoves(const ClusterFacts& facts);
// topology.cc has these checks.
Places UnnamedDomains(const ClusterFacts& facts);
Places ModelsWithoutSpeed(const ClusterFacts& facts);
// Returns the gangs on several nodes if no label of `gangs.topology` narrower than a zone says which of these
// nodes are near each other. The value is the number of nodes. Returns none if the extender's configuration
// is not known.
std::map<std::string, std::size_t> GangsOverUnnamedDomains(const ClusterFacts& facts);
// Returns what the check and `explain` say of a gang that GangsOverUnnamedDomains() names: it is on `nodes`
// nodes.
std::string OverNodes(const std::string& gang, std::size_t nodes);
// quotas.cc has these checks.
Places QuotasWithoutSlots(const ClusterFacts& facts);
Places LimitRangesOnGpus(const ClusterFacts& facts);
Places KueueQuotasTooSmall(const ClusterFacts& facts);

}  // namespace crossover::cli
