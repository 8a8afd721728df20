// Parses the words and numbers of the configuration. YAML files and the command line share these rules. A
// parser returns nullopt or false if it refuses the value. The matching k...Allowed constant says which
// values it accepts, for error messages.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/text/number.h"
#include "deviceplugin/arbiter/settings.h"

namespace crossover::deviceplugin {

inline constexpr std::string_view kModeAllowed = "enforce, observe or off";
std::optional<arbiter::Policy> ParsePolicy(std::string_view text);
std::string_view PolicyName(arbiter::Policy policy);

inline constexpr std::string_view kTieWindowAllowed = "auto, off or 1 to 10000 (microseconds)";
// Sets both tie_window and tie_rule of `settings`. Returns false for a value that is not allowed.
bool ParseTieWindow(std::string_view text, turn::PolicySettings* settings);

inline constexpr std::string_view kQuantumAllowed = "off or 1000 to 1000000 (microseconds)";
bool ParseQuantum(std::string_view text, turn::PolicySettings* settings);

inline constexpr std::string_view kSocketPathAllowed = "an absolute path of at most 107 bytes";
bool ValidSocketPath(std::string_view path);

inline constexpr std::string_view kSocketModeAllowed = "an octal file mode from 0600 to 0777";
std::optional<mode_t> ParseFileMode(std::string_view text);

inline constexpr std::string_view kGroupAllowed = "the name or number of a group of this machine";
std::optional<gid_t> ParseGroup(const std::string& text);

inline constexpr std::string_view kGpusAllowed =
    "all or a list of GPU UUIDs (GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx)";
inline constexpr std::string_view kLogLevelAllowed = "error, warn, info or debug";
inline constexpr std::string_view kApiSocketAllowed = "an absolute path of at most 107 bytes, or off";
inline constexpr std::string_view kListenAllowed = "host:port with a port from 0 to 65535, or off";
bool ValidListenAddress(std::string_view address);

inline constexpr std::string_view kProfilesAllowed = "an absolute path of at most 3000 bytes, or off";
bool ValidDirectory(std::string_view path);

using text::ParseInteger;

}  // namespace crossover::deviceplugin
