// Says what the constraints of pods leave of the nodes to a gang: ports of the host, required affinity and
// anti-affinity between pods, and topology spread that is enforced. It judges as a scheduler does, of the
// pods that the ClusterCache has. A scheduler knows the other pods, too: if these are in the way, it refuses
// a node, and the gang leaves that node out for a while. Pure.
#pragma once

#include <span>
#include <string>

#include "extender/gang/gang_store.h"

namespace crossover::extender {

// A DemandFault is a reason why no plan can keep to the constraints of a gang.
enum class DemandFault : std::uint8_t {
  kNone,
  kNamespaceLabels,  // a term names namespaces by their labels, which are not known here
  kUnlikeAffinity,   // pods differ in their required affinity
  kPartAffinity,     // a required affinity selects some of the pods
  kUnlikeSpread,     // pods differ in their topology spread, or in the nodes that they may be on
  kPartSpread,       // a topology spread counts some of the pods
};

// A DemandRefusal says in words which field of which pod has the fault, and what is expected.
struct DemandRefusal {
  DemandFault fault = DemandFault::kNone;
  std::string text;
};

// Returns the first fault of the constraints of a gang's pods.
DemandRefusal FaultyDemands(std::span<const Pod* const> pods);

// Sets Gang::divisions of gangs that wait. `state` is what SnapshotOf() returned for the store as it is.
void SetDivisions(const GangStore& store, const placement::State& state, std::span<placement::Gang> waiting);

// Returns a Fitness that limits what `fitness` answers: a node that the constraints of pods close to a gang
// takes none of its pods, and one on which they keep the pods of the gang apart takes one. It is for one
// decision. REQUIRES: `store` and `state` outlive it.
placement::Fitness LimitedByDemands(const GangStore& store, const placement::State& state,
                                    placement::Fitness fitness);

}  // namespace crossover::extender
