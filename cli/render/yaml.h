// JSON values as YAML, one key or item a line. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

// Text stands in quotes, whatever it is: nothing in it is taken for a number or a truth.
std::string Yaml(const nlohmann::json& value);

}  // namespace crossover::cli
