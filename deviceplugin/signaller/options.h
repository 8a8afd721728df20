// Reads the signaller's command line. Pure.
#pragma once

#include <span>
#include <string>
#include <variant>

namespace crossover::signaller {

struct Options {
  std::string socket = "/run/crossover/arbiter.sock";
  std::string gpu_uuid;
  std::string no_mps = "/run/crossover/no-mps";
};
struct HelpWanted {};
struct VersionWanted {};
struct OptionError {
  std::string text;  // one line: the option, what is expected and the value
};
using OptionResult = std::variant<Options, HelpWanted, VersionWanted, OptionError>;

extern const char kHelp[];

// REQUIRES: `arguments` does not contain the program's name.
OptionResult ParseOptions(std::span<const char* const> arguments);

}  // namespace crossover::signaller
