// Reads the signaller's command line. Pure.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <variant>

namespace crossover::signaller {

inline constexpr int kMostSignallers = 4;

// A Role is what the program does.
enum class Role : std::uint8_t {
  kSignal,    // the program signals the clients of one GPU
  kKeep,      // the program keeps signallers for each GPU of the machine
  kListGpus,  // the program names the GPUs of the machine
};

struct Options {
  Role role = Role::kSignal;
  std::string socket = "/run/crossover/arbiter.sock";
  std::string gpu_uuid;  // kSignal
  int count = 0;         // kKeep: of signallers for each GPU, 1 to kMostSignallers
  std::string no_mps = "/run/crossover/no-mps";
  bool resting = false;  // kSignal: it begins without the driver (rest.h)
};
struct HelpWanted {};
struct VersionWanted {};
struct OptionError {
  std::string text;  // one line: the option, what is expected and the value
};
using OptionResult = std::variant<Options, HelpWanted, VersionWanted, OptionError>;

extern const char kHelp[];

// Returns what the command line says, or the first error in it. REQUIRES: `arguments` does not contain the
// program's name.
OptionResult ParseOptions(std::span<const char* const> arguments);

}  // namespace crossover::signaller
