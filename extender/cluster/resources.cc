#include "extender/cluster/resources.h"

#include <algorithm>
#include <limits>

namespace crossover::extender {

std::int64_t Sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return a > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

void Add(const Resources& more, Resources* to) {
  to->milli_cpu = Sum(to->milli_cpu, more.milli_cpu);
  to->memory = Sum(to->memory, more.memory);
  for (const auto& [name, amount] : more.others) {
    std::int64_t& there = to->others[name];
    there = Sum(there, amount);
  }
}

void AddPod(const Pod& pod, Resources* to) {
  Add(pod.requests, to);
  std::int64_t& pods = to->others[kPods];
  pods = Sum(pods, 1);
}

std::int64_t Amount(const Resources& resources, const std::string& name) {
  const auto found = resources.others.find(name);
  return found == resources.others.end() ? 0 : found->second;
}

}  // namespace crossover::extender
