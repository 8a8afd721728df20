// Fields of objects that may be anything: none of it throws.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/kube/json.h"

namespace crossover::extender {

std::string TextAt(const nlohmann::json& object, const char* key);
bool IsTrue(const nlohmann::json& object, const char* key);
// Within [least, most]; 0 or what of these is next to it where it is no number.
std::int64_t WholeAt(const nlohmann::json& object, const char* key, std::int64_t least, std::int64_t most);
// At least 0 and finite; else 0.
double RealAt(const nlohmann::json& object, const char* key);
// Seconds since 1970; 0 for what is no instant.
double InstantAt(const nlohmann::json& object, const char* key);
// Of what nodes and users write of jobs: a text of at most kLongestText bytes, a number of at most `most`, an
// instant as we write them (kube::WriteTimestamp). What is not is empty, or 0.
inline constexpr std::size_t kLongestText = 253;
std::string TextIn(const nlohmann::json& object, const char* key);
double NumberIn(const nlohmann::json& object, const char* key, double most);
double TimeIn(const nlohmann::json& object, const char* key);

}  // namespace crossover::extender
