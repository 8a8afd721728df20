// What a bundle of the doctor holds. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace crossover::cli {

// Without what may be secret or is long and says nothing: values of environments, commands and arguments of
// containers, annotations and labels that are not ours or Kubernetes' own, managed fields.
nlohmann::json Redacted(const nlohmann::json& items);

}  // namespace crossover::cli
