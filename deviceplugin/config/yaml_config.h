// The configuration from a YAML file, validated whole.
#pragma once

#include <optional>
#include <string>

#include "deviceplugin/config/config.h"

namespace crossover::deviceplugin {

// Nothing when anything in `text` is not allowed; `error` then is one line: "NAME:LINE: key: value is not
// allowed: what is". `name` is the file's, for that line.
std::optional<Config> ParseYamlConfig(const std::string& text, const std::string& name, std::string* error);
std::optional<Config> ReadYamlConfig(const std::string& path, std::string* error);

}  // namespace crossover::deviceplugin
