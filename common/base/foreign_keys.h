// Names labels and annotations that belong to other programs. The node daemon writes those of nodes if the
// configuration asks for it (deviceplugin/status/node_marks.h), the webhook writes those of pods, and the
// doctor looks at them.
#pragma once

namespace crossover::base {

// The GPU Operator starts neither its device plugin nor its validator on nodes if these labels are "false".
// The validator asks for nvidia.com/gpu, which such a node does not have, and would restart forever.
inline constexpr char kOperatorPluginLabel[] = "nvidia.com/gpu.deploy.device-plugin";
inline constexpr char kOperatorValidatorLabel[] = "nvidia.com/gpu.deploy.operator-validator";
// Cluster Autoscaler does not remove a node if this annotation is "true".
inline constexpr char kScaleDownAnnotation[] = "cluster-autoscaler.kubernetes.io/scale-down-disabled";

// Cluster Autoscaler does not remove the node of a pod if this annotation is "false".
inline constexpr char kSafeToEvictAnnotation[] = "cluster-autoscaler.kubernetes.io/safe-to-evict";
// Karpenter does not consolidate the node of a pod if this annotation is "true".
inline constexpr char kDoNotDisruptAnnotation[] = "karpenter.sh/do-not-disrupt";
// The Descheduler does not evict a pod with this annotation, whatever its value, if its policy says
// noEvictionPolicy: Mandatory. Elsewhere it only evicts other pods first.
inline constexpr char kPreferNoEvictionAnnotation[] = "descheduler.alpha.kubernetes.io/prefer-no-eviction";

}  // namespace crossover::base
