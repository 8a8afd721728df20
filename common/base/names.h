// Names that users see, in one place.
#pragma once

namespace crossover::base {

// Of our resource, annotations and labels.
#define CROSSOVER_DOMAIN "crossover.dev"

inline constexpr char kSlotResource[] = CROSSOVER_DOMAIN "/slot";

// On the pod template, set by users.
inline constexpr char kGangAnnotation[] = CROSSOVER_DOMAIN "/gang";
inline constexpr char kGangSizeAnnotation[] = CROSSOVER_DOMAIN "/gang-size";
inline constexpr char kTurnPriorityAnnotation[] = CROSSOVER_DOMAIN "/turn-priority";
inline constexpr char kMaxSlowdownAnnotation[] = CROSSOVER_DOMAIN "/max-slowdown";
inline constexpr char kModeAnnotation[] = CROSSOVER_DOMAIN "/mode";
// On a node, set by administrators: "true" ends turns and takes no new pods; which of the daemon's named
// configurations holds.
inline constexpr char kMaintenanceAnnotation[] = CROSSOVER_DOMAIN "/maintenance";
inline constexpr char kConfigurationLabel[] = CROSSOVER_DOMAIN "/configuration";
// Written when a pod is bound: which GPUs each of its containers is to have.
inline constexpr char kAssignmentAnnotation[] = CROSSOVER_DOMAIN "/assignment";

// Where a container finds what we put into it.
inline constexpr char kLibraryDirectory[] = "/opt/crossover";
inline constexpr char kPreloadFile[] = "/etc/ld.so.preload";
inline constexpr char kMpsDirectory[] = "/run/crossover-mps";
inline constexpr char kSocketDirectory[] = "/run/crossover";

}  // namespace crossover::base
