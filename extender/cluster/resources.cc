#include "extender/cluster/resources.h"

namespace crossover::extender {

void AddPod(const Pod& pod, Resources* to) {
  *to += pod.requests;
  std::int64_t& pods = to->others[kPods];
  pods = kube::Sum(pods, 1);
}

void RemovePod(const Pod& pod, Resources* from) {
  from->milli_cpu = kube::Sum(from->milli_cpu, -pod.requests.milli_cpu);
  from->memory_bytes = kube::Sum(from->memory_bytes, -pod.requests.memory_bytes);
  for (const auto& [name, amount] : pod.requests.others) {
    std::int64_t& left = from->others[name];
    left = kube::Sum(left, -amount);
  }
  std::int64_t& pods = from->others[kPods];
  pods = kube::Sum(pods, -1);
}

std::int64_t Amount(const Resources& resources, const std::string& name) {
  const auto found = resources.others.find(name);
  return found == resources.others.end() ? 0 : found->second;
}

}  // namespace crossover::extender
