// Names that users see, in one place.
#pragma once

namespace crossover::base {

// Of our resource, annotations and labels.
#define CROSSOVER_DOMAIN "crossover.dev"

inline constexpr char kSlotResource[] = CROSSOVER_DOMAIN "/slot";

// On the pod template, set by users.
inline constexpr char kShareAnnotation[] = CROSSOVER_DOMAIN "/share";  // true: opts in; exclusive: whole GPUs
inline constexpr char kGangAnnotation[] = CROSSOVER_DOMAIN "/gang";
inline constexpr char kGangSizeAnnotation[] = CROSSOVER_DOMAIN "/gang-size";
inline constexpr char kTurnPriorityAnnotation[] = CROSSOVER_DOMAIN "/turn-priority";
inline constexpr char kMaxSlowdownAnnotation[] = CROSSOVER_DOMAIN "/max-slowdown";
inline constexpr char kModeAnnotation[] = CROSSOVER_DOMAIN "/mode";
inline constexpr char kGpuMemoryAnnotation[] = CROSSOVER_DOMAIN "/gpu-memory";    // quantity, of each GPU
inline constexpr char kProfileKeyAnnotation[] = CROSSOVER_DOMAIN "/profile-key";  // jobs with one are alike
inline constexpr char kShareWithAnnotation[] = CROSSOVER_DOMAIN "/share-with";    // namespace or cluster
// On a node, set by administrators: "true" ends turns and takes no new pods; which of the daemon's named
// configurations holds.
inline constexpr char kMaintenanceAnnotation[] = CROSSOVER_DOMAIN "/maintenance";
inline constexpr char kConfigurationLabel[] = CROSSOVER_DOMAIN "/configuration";

// Put on pods by the webhook when they are made: the label by which the extender finds them; the gate that it
// lifts once the whole gang has its GPUs; and that all this was done, so that it is not done twice.
inline constexpr char kManagedLabel[] = CROSSOVER_DOMAIN "/managed";
inline constexpr char kGangGate[] = CROSSOVER_DOMAIN "/gang";
inline constexpr char kAdmittedAnnotation[] = CROSSOVER_DOMAIN "/admitted";
inline constexpr char kSchedulerName[] = "crossover-scheduler";
// Put on pods by the extender: where a pod is to go, before it is bound; a number whose change wakes a
// scheduler that had put the pod aside.
inline constexpr char kReservationAnnotation[] = CROSSOVER_DOMAIN "/reservation";
inline constexpr char kRequeueAnnotation[] = CROSSOVER_DOMAIN "/requeue";
// Written when a pod is bound: which GPUs each of its containers is to have.
inline constexpr char kAssignmentAnnotation[] = CROSSOVER_DOMAIN "/assignment";
// Written with a reservation, on pods that name no budget: bytes of each GPU's memory that their containers
// may have. The webhook lets their environment say it, which is read when they start.
inline constexpr char kGrantedMemoryAnnotation[] = CROSSOVER_DOMAIN "/status-gpu-memory";

// Where a container finds what we put into it.
inline constexpr char kLibraryDirectory[] = "/opt/crossover";
inline constexpr char kPreloadFile[] = "/etc/ld.so.preload";
inline constexpr char kMpsDirectory[] = "/run/crossover-mps";
inline constexpr char kSocketDirectory[] = "/run/crossover";

}  // namespace crossover::base
