// Refuses what stands in input files. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <string_view>

#include "common/base/refusal.h"

namespace crossover::pipeline {

// A Fault says where a file is wrong. The functions that read files catch it.
struct Fault : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Throws a Fault: "PLACE: KEY: expected EXPECTED, got GOT".
[[noreturn]] inline void Refuse(const std::string& place, std::string_view key, std::string_view expected,
                                std::string_view got) {
  throw Fault(place + ": " + base::Refusal(base::Shown(key), expected, base::Shown(got)));
}

// Returns the value as the file has it. A list or an object may be of any depth, so it is named alone.
inline std::string Said(const nlohmann::json& value) {
  return value.is_structured() ? std::string(value.type_name()) : value.dump();
}

}  // namespace crossover::pipeline
