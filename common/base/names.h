// Lists the names that users see in Kubernetes objects and in containers.
#pragma once

namespace crossover::base {

// Our resource, annotations and labels are in this domain.
#define CROSSOVER_DOMAIN "crossover.dev"

inline constexpr char kSlotResource[] = CROSSOVER_DOMAIN "/slot";

// Users set these on the pod template.
inline constexpr char kShareAnnotation[] = CROSSOVER_DOMAIN "/share";  // true: opts in; exclusive: whole GPUs
inline constexpr char kGangAnnotation[] = CROSSOVER_DOMAIN "/gang";
inline constexpr char kGangSizeAnnotation[] = CROSSOVER_DOMAIN "/gang-size";
inline constexpr char kTurnPriorityAnnotation[] = CROSSOVER_DOMAIN "/turn-priority";
inline constexpr char kMaxSlowdownAnnotation[] = CROSSOVER_DOMAIN "/max-slowdown";
inline constexpr char kModeAnnotation[] = CROSSOVER_DOMAIN "/mode";
inline constexpr char kGpuMemoryAnnotation[] = CROSSOVER_DOMAIN "/gpu-memory";      // quantity, per GPU
inline constexpr char kProfileKeyAnnotation[] = CROSSOVER_DOMAIN "/profile-key";    // equal for alike jobs
inline constexpr char kShareWithAnnotation[] = CROSSOVER_DOMAIN "/share-with";      // namespace or cluster
inline constexpr char kWithinAnnotation[] = CROSSOVER_DOMAIN "/within";             // key of a topology label
inline constexpr char kBatchSharesAnnotation[] = CROSSOVER_DOMAIN "/batch-shares";  // true
inline constexpr char kShrinkAnnotation[] = CROSSOVER_DOMAIN "/shrink";             // off, advise, ..
// Administrators set these on a node. kMaintenanceAnnotation with "true" ends turns and keeps new pods
// away. kConfigurationLabel selects one of the named configurations in the daemon's configuration file.
inline constexpr char kMaintenanceAnnotation[] = CROSSOVER_DOMAIN "/maintenance";
inline constexpr char kConfigurationLabel[] = CROSSOVER_DOMAIN "/configuration";

// The webhook sets these on a new pod. The extender finds its pods by kManagedLabel. It lifts kGangGate once
// the whole gang has its GPUs, or after a while, so that autoscalers see the pod. kAdmittedAnnotation says
// that the webhook has rewritten the pod.
inline constexpr char kManagedLabel[] = CROSSOVER_DOMAIN "/managed";
inline constexpr char kGangGate[] = CROSSOVER_DOMAIN "/gang";
inline constexpr char kAdmittedAnnotation[] = CROSSOVER_DOMAIN "/admitted";
inline constexpr char kSchedulerName[] = "crossover-scheduler";
// The extender sets these on pods. kReservationAnnotation says where a pod goes before it is bound.
// kRequeueAnnotation gets another text with each release: only a change makes the scheduler retry a pod that
// it has set aside.
inline constexpr char kReservationAnnotation[] = CROSSOVER_DOMAIN "/reservation";
inline constexpr char kRequeueAnnotation[] = CROSSOVER_DOMAIN "/requeue";
// The extender writes this when it binds a pod: the GPUs of each container.
inline constexpr char kAssignmentAnnotation[] = CROSSOVER_DOMAIN "/assignment";
// The extender writes this with a reservation, on pods that set no memory budget: how many bytes of each
// GPU's memory their containers may use. The webhook makes the containers' environment refer to it, and a
// container reads it when it starts.
inline constexpr char kGrantedMemoryAnnotation[] = CROSSOVER_DOMAIN "/status-gpu-memory";

// The extender writes these with a reservation, on pods whose kShrinkAnnotation is auto: the level that it
// chose for the job (common/base/shrink_choice.h), and why, in words. The webhook makes the containers'
// environment refer to the first, and a container reads it when it starts.
inline constexpr char kShrinkChoiceAnnotation[] = CROSSOVER_DOMAIN "/status-shrink";
inline constexpr char kShrinkWhyAnnotation[] = CROSSOVER_DOMAIN "/status-shrink-why";

// The extender writes this on pods with kBatchSharesAnnotation: the weights of the ranks of the job.
// Containers see it as kWeightsFile, and kWeightsVariable names that file.
inline constexpr char kWeightsAnnotation[] = CROSSOVER_DOMAIN "/status-batch-shares";
inline constexpr char kWeightsFolder[] = "/run/crossover-shares";
inline constexpr char kWeightsName[] = "weights";
inline constexpr char kWeightsFile[] = "/run/crossover-shares/weights";
inline constexpr char kWeightsVariable[] = "CROSSOVER_BATCH_SHARES";

// A container finds these paths of ours in its file system.
inline constexpr char kLibraryDirectory[] = "/opt/crossover";
inline constexpr char kLibraryName[] = "libcrossover.so";
inline constexpr char kShrinkLibraryName[] = "libcrossover-shrink.so";  // see kShrinkAnnotation
inline constexpr char kPreloadFile[] = "/etc/ld.so.preload";
inline constexpr char kMpsDirectory[] = "/run/crossover-mps";
inline constexpr char kSocketDirectory[] = "/run/crossover";
// Under MPS, kShm of a container is the node's. The webhook moves a volume that the pod has at kShm to
// kMovedShm.
inline constexpr char kShm[] = "/dev/shm";
inline constexpr char kMovedShm[] = "/run/crossover-shm";

}  // namespace crossover::base
