#include "tests/unit/turn/order_model.h"

#include <algorithm>

namespace crossover::turn::test {

JobModelResult RunOrderModel(const OrderModelOptions& options) {
  const JobShape shape{
      .compute = options.compute, .communicate = options.communicate, .jitter = options.jitter};
  JobModelOptions model{.gpus = options.gpus,
                        .jobs = {shape, shape},
                        .hand_over = options.hand_over,
                        .start_trapped = options.start_trapped,
                        .policy = {},
                        .iterations = options.iterations,
                        .seed = options.seed};
  model.jobs[1].starts = options.second_job_starts;
  model.policy.tie_rule = options.tie_rule;
  // Trapped jobs look unequal to the policy. If it broke a turn for that, it would cure the trap by chance.
  if (!options.tie_rule) model.policy.quantum = 0;
  return RunJobModel(model);
}

double MeanStep(const JobModelResult& result, int first, int window) {
  double sum = 0;
  for (const std::vector<Time>& ends : result.ends) {
    const Time from = first == 0 ? 0 : ends[static_cast<std::size_t>(first - 1)];
    sum += static_cast<double>(ends[static_cast<std::size_t>(first + window - 1)] - from) / window;
  }
  return sum / 2;
}

int IterationsUntil(const JobModelResult& result, const JobModelResult& reference, double share, int window) {
  const int last = static_cast<int>(std::min(result.ends[0].size(), result.ends[1].size())) - window;
  for (int first = 1; first <= last; ++first) {
    if (MeanStep(reference, first, window) / MeanStep(result, first, window) >= share) return first;
  }
  return last;
}

OrderModelOptions ReferenceOf(const OrderModelOptions& options) {
  OrderModelOptions reference = options;
  reference.hand_over = 0;
  reference.second_job_starts = options.compute;
  reference.start_trapped = false;
  reference.tie_rule = true;
  return reference;
}

}  // namespace crossover::turn::test
