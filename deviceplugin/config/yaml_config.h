// Reads the configuration from a YAML file. A file with any error is rejected as a whole.
#pragma once

#include <optional>
#include <string>

#include "deviceplugin/config/config.h"

namespace crossover::deviceplugin {

// Parses `text`. Returns nullopt if anything in it is refused; `error` then holds one line: "NAME:LINE: key:
// expected what is accepted, got the value". `name` is the name of the file for that line.
std::optional<Config> ParseYamlConfig(const std::string& text, const std::string& name, std::string* error);
// Reads and parses the file at `path`. Returns nullopt, with one line in `error`, if that fails.
std::optional<Config> ReadYamlConfig(const std::string& path, std::string* error);

}  // namespace crossover::deviceplugin
