// Writes JSON values as YAML, one key or item on a line. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

// Returns `value` as YAML. Texts and keys are quoted, so that none is read as a number or a boolean.
std::string Yaml(const nlohmann::json& value);

}  // namespace crossover::cli
