// Changes parts of an object of Kubernetes in place. Pure.
#pragma once

#include <nlohmann/json.hpp>

namespace crossover::extender::admission {

// Returns the value of `key` in `object`. Creates it, or replaces it by an empty value of `kind`, if its
// type is not `kind`.
nlohmann::json& Made(nlohmann::json* object, const char* key, nlohmann::json::value_t kind);

// Makes `entry` the only one of its name in `list`.
void PutNamed(const nlohmann::json& entry, nlohmann::json* list);

}  // namespace crossover::extender::admission
