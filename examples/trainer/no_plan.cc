// Stands for plan.cc in builds that have no library for JSON.
#include "examples/trainer/stages.h"

namespace crossover::trainer {

std::variant<Stages, UsageError> ReadPlan(const std::string&, const std::string& name, std::uint32_t) {
  return UsageError{"--plan=" + name + ": this build reads no plans"};
}

}  // namespace crossover::trainer
