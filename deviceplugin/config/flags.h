// The configuration from command-line flags, for builds without YAML.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "deviceplugin/config/config.h"

namespace crossover::deviceplugin {

struct HelpWanted {};
struct VersionWanted {};
struct FlagError {
  std::string text;  // flag, value and what is allowed
};
using FlagResult = std::variant<Config, HelpWanted, VersionWanted, FlagError>;

FlagResult ParseFlags(std::span<const char* const> arguments);  // without the program's name
extern const char kFlagHelp[];

}  // namespace crossover::deviceplugin
