// Installs the library on the host, from where containers mount it. Each version has a directory of its
// own, which is created once and never changed. A container that restarts therefore gets the same files as
// before, whatever version the daemon has by then.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace crossover::deviceplugin {

// Returns whether the file system of `directory` is mounted noexec; false if that cannot be determined.
bool IsNoexec(const std::string& directory);

// Copies `library` to a directory under `host_directory`, unless that version is there already. The
// directory also gets an ld.so.preload file, which names the library to the dynamic loader of a container,
// and the library beside `library` that compresses reductions, if there is one. That file names it to no
// process: only pods whose owners ask for it do. Returns the path of the directory. Returns nullopt, with the
// reason in `error`, if the copy fails or the file system is mounted noexec. Tests pass their own
// `is_noexec`, because they mount nothing.
std::optional<std::string> InstallLibrary(const std::string& library, const std::string& host_directory,
                                          std::string* error,
                                          bool (*is_noexec)(const std::string& directory) = IsNoexec);

// Removes old versions, and leftover drafts of versions, under `host_directory`. A version stays if it is
// `current`, if its name occurs in `named`, or if it was last installed less than `age` ago. Returns the
// paths of what it removed.
std::vector<std::string> CollectLibraries(const std::string& host_directory, const std::string& current,
                                          const std::string& named, std::chrono::seconds age);

}  // namespace crossover::deviceplugin
