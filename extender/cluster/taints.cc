#include "extender/cluster/taints.h"

#include <algorithm>

namespace crossover::extender {
namespace {

bool IsTolerated(const Pod& pod, const Taint& taint) {
  return std::any_of(pod.tolerations.begin(), pod.tolerations.end(),
                     [&](const Toleration& toleration) { return Tolerates(toleration, taint); });
}

std::string TextOf(const Taint& taint) {
  return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
}

}  // namespace

bool Tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  return toleration.exists || toleration.value == taint.value;
}

std::string WhyNotLetIn(const Pod& pod, const Node& node) {
  static const Taint cordon{.key = "node.kubernetes.io/unschedulable", .value = "", .effect = "NoSchedule"};
  if (!node.ready) return "the node is not ready";
  if (node.cordoned && !IsTolerated(pod, cordon)) return "the node is cordoned";
  for (const Taint& taint : node.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    if (!IsTolerated(pod, taint)) return "the pod does not tolerate the node's taint " + TextOf(taint);
  }
  return "";
}

}  // namespace crossover::extender
