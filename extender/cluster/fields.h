// Fields of objects that may be anything: none of it throws.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/kube/json.h"
#include "extender/cluster/model.h"

namespace crossover::extender {

// What is no list is empty.
const nlohmann::json& List(const nlohmann::json& object, const char* key);
std::string TextAt(const nlohmann::json& object, const char* key);
bool IsTrue(const nlohmann::json& object, const char* key);
// Within [least, most]; 0 or what of these is next to it where it is no number.
std::int64_t WholeAt(const nlohmann::json& object, const char* key, std::int64_t least, std::int64_t most);
// At least 0 and finite; else 0.
double RealAt(const nlohmann::json& object, const char* key);
// Seconds since 1970; 0 for what is no instant.
double InstantAt(const nlohmann::json& object, const char* key);
// Texts by name.
Labels LabelsAt(const nlohmann::json& object, const char* key);
// A list of amounts by resource, as in requests and allocatable.
Resources ResourcesAt(const nlohmann::json& object, const char* key);
// At most so many bytes, and no half letter at the end.
std::string Cut(std::string text, std::size_t bytes);

}  // namespace crossover::extender
