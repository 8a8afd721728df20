// Reads fields of JSON objects of any shape. No function here throws: a field that is missing or has
// another type counts as not set.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "common/kube/json.h"

namespace crossover::api {

// Returns the field as a string, or "" if it is no string.
std::string TextAt(const nlohmann::json& object, const char* key);
// Returns true only if the field is the boolean true.
bool IsTrue(const nlohmann::json& object, const char* key);
// Returns the field as a whole number, clamped to [least, most]. A field that is no whole number counts as
// 0, which is clamped, too.
std::int64_t WholeAt(const nlohmann::json& object, const char* key, std::int64_t least, std::int64_t most);
// Returns the field as a number, or 0 if it is not a finite number above 0.
double RealAt(const nlohmann::json& object, const char* key);
// Returns the field as seconds since 1970, or 0 if it is not an RFC 3339 timestamp.
double InstantAt(const nlohmann::json& object, const char* key);
// The next three read what nodes and users write about jobs, and are stricter. TextIn() returns "" for a
// string of more than kLongestText bytes. NumberIn() returns 0 for a number above `most`. TimeIn() returns
// 0 for a timestamp that does not have the format of kube::WriteTimestamp.
inline constexpr std::size_t kLongestText = 253;
std::string TextIn(const nlohmann::json& object, const char* key);
double NumberIn(const nlohmann::json& object, const char* key, double most);
double TimeIn(const nlohmann::json& object, const char* key);

}  // namespace crossover::api
