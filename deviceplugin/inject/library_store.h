// Where containers have the library from: a directory of the host for each version of it, made once, never
// changed. A container that starts anew gets the very files that it had before, whatever the daemon's version
// is by then.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace crossover::deviceplugin {

// Whether the file system of a directory is mounted noexec.
bool IsNoexec(const std::string& directory);

// Puts a copy of `library` under `host_directory`, with the file that names it to a container's loader,
// unless it is there. Its directory; nothing, with the reason in `error`, where that fails or nothing there
// could be run. `is_noexec`: for tests, which mount nothing.
std::optional<std::string> InstallLibrary(const std::string& library, const std::string& host_directory,
                                          std::string* error,
                                          bool (*is_noexec)(const std::string& directory) = IsNoexec);

// Removes the versions under `host_directory`, drafts of them too, that are not `current`, whose name does
// not occur in `named`, and that were last installed at least so long ago. Answers with what it has removed.
std::vector<std::string> CollectLibraries(const std::string& host_directory, const std::string& current,
                                          const std::string& named, std::chrono::seconds age);

}  // namespace crossover::deviceplugin
