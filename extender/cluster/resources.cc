#include "extender/cluster/resources.h"

namespace crossover::extender {

void AddPod(const Pod& pod, Resources* to) {
  *to += pod.requests;
  std::int64_t& pods = to->others[kPods];
  pods = kube::Sum(pods, 1);
}

std::int64_t Amount(const Resources& resources, const std::string& name) {
  const auto found = resources.others.find(name);
  return found == resources.others.end() ? 0 : found->second;
}

}  // namespace crossover::extender
