// Where containers have the library from: a directory of the host for each version of it, made once, never
// changed. A container that starts anew gets the very files that it had before, whatever the daemon's version
// is by then.
#pragma once

#include <optional>
#include <string>

namespace crossover::deviceplugin {

// Puts a copy of `library` under `host_directory`, with the file that names it to a container's loader,
// unless it is there. Its directory; nothing, with the reason in `error`, where that fails or nothing there
// could be run.
std::optional<std::string> InstallLibrary(const std::string& library, const std::string& host_directory,
                                          std::string* error);

}  // namespace crossover::deviceplugin
