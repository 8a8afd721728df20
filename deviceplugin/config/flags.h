// Reads the configuration from command-line flags. Builds without YAML support use it.
#pragma once

#include <span>
#include <string>
#include <variant>

#include "deviceplugin/config/config.h"

namespace crossover::deviceplugin {

struct HelpWanted {};
struct VersionWanted {};
struct FlagError {
  std::string text;  // one line: the flag, what is expected and the value
};
using FlagResult = std::variant<Config, HelpWanted, VersionWanted, FlagError>;

// Parses the command line. REQUIRES: `arguments` does not contain the program's name.
FlagResult ParseFlags(std::span<const char* const> arguments);
// Holds the text of --help.
extern const char kFlagHelp[];

}  // namespace crossover::deviceplugin
