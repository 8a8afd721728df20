// Parses the JSON of input files, and says where it is none. Pure.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace crossover::pipeline {

// Returns the JSON in `text`, the content of the file `name`. Throws a Fault if it cannot be parsed:
// "NAME:LINE:COLUMN: content: expected EXPECTED, got GOT". Columns are counted in bytes from 1, and GOT is
// the end of what is read of the line.
nlohmann::json Parsed(std::string_view text, const std::string& name, std::string_view expected);

// Throws a Fault if the object has a key other than `only`.
void RefuseOtherKeys(const nlohmann::json& object, const std::string& place, std::string_view only);

}  // namespace crossover::pipeline
