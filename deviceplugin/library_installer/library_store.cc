#include "deviceplugin/library_installer/library_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "common/base/fd.h"
#include "common/base/hash.h"
#include "common/base/names.h"
#include "common/files/read_file.h"

namespace crossover::deviceplugin {
namespace {

namespace fs = std::filesystem;

constexpr char kPreload[] = "ld.so.preload";
constexpr char kVersions[] = "/lib";

// Version is what one directory holds.
struct Version {
  std::string library;
  std::optional<std::string> shrink;  // the library that compresses reductions
};

std::optional<Version> ReadVersion(const std::string& library, std::string* error) {
  const auto bytes = files::ReadFile(library, error);
  if (!bytes) return std::nullopt;
  Version version{.library = *bytes, .shrink = std::nullopt};
  const fs::path shrink = fs::path(library).replace_filename(base::kShrinkLibraryName);
  std::error_code failure;
  if (!fs::exists(shrink, failure)) return version;
  version.shrink = files::ReadFile(shrink, error);
  if (!version.shrink) return std::nullopt;
  return version;
}

// Returns 16 hexadecimal digits that stand for the files of a version.
std::string NameOf(const Version& version) {
  return base::HexOf(base::Hash(version.library + version.shrink.value_or(""))).data();
}

bool WriteFile(const std::string& path, const std::string& bytes, mode_t mode) {
  const base::UniqueFd file(open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
  if (!file) return false;
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t size = write(file.get(), bytes.data() + done, bytes.size() - done);
    if (size <= 0) return false;
    done += static_cast<std::size_t>(size);
  }
  // fchmod() sets the mode whatever the umask of the daemon is.
  return fchmod(file.get(), mode) == 0 && fsync(file.get()) == 0;
}

bool WriteVersion(const Version& version, const std::string& directory) {
  constexpr mode_t kProgram = 0555, kText = 0444, kOpen = 0755;
  const std::string preload = std::string(base::kLibraryDirectory) + "/" + base::kLibraryName + "\n";
  const std::string shrink = directory + "/" + base::kShrinkLibraryName;
  return WriteFile(directory + "/" + base::kLibraryName, version.library, kProgram) &&
         (!version.shrink || WriteFile(shrink, *version.shrink, kProgram)) &&
         WriteFile(directory + "/" + kPreload, preload, kText) && chmod(directory.c_str(), kOpen) == 0;
}

}  // namespace

bool IsNoexec(const std::string& directory) {
  struct statvfs status {};
  return statvfs(directory.c_str(), &status) == 0 && (status.f_flag & ST_NOEXEC) != 0;
}

std::optional<std::string> InstallLibrary(const std::string& library, const std::string& host_directory,
                                          std::string* error,
                                          bool (*is_noexec)(const std::string& directory)) {
  const auto version = ReadVersion(library, error);
  if (!version) return std::nullopt;
  const std::string versions = host_directory + kVersions;
  const std::string directory = versions + "/" + NameOf(*version);
  const std::string draft = directory + ".new." + std::to_string(getpid());
  std::error_code failure;
  fs::create_directories(versions, failure);
  if (!failure && !fs::exists(directory)) {
    fs::create_directories(draft, failure);
    const bool written = !failure && WriteVersion(*version, draft);
    if (!written || std::rename(draft.c_str(), directory.c_str()) != 0) {
      if (!failure) failure = std::error_code(errno, std::generic_category());
      std::error_code ignored;
      fs::remove_all(draft, ignored);
      if (fs::exists(directory, ignored))
        failure.clear();  // another daemon installed the library at the same time
    }
  }
  if (failure) {
    *error = versions + ": " + failure.message();
    return std::nullopt;
  }
  // A new time protects this version from CollectLibraries().
  fs::last_write_time(directory, fs::file_time_type::clock::now(), failure);
  if (is_noexec(directory)) {
    *error = directory + ": its file system is mounted noexec: no process could load the library from there";
    return std::nullopt;
  }
  return directory;
}

std::vector<std::string> CollectLibraries(const std::string& host_directory, const std::string& current,
                                          const std::string& named, std::chrono::seconds age) {
  std::vector<std::string> removed;
  std::error_code failure;
  std::vector<fs::path> old;
  for (const fs::directory_entry& entry : fs::directory_iterator(host_directory + kVersions, failure)) {
    const std::string name = entry.path().filename();
    const bool used = entry.path() == current || named.find(name) != std::string::npos;
    const auto made = entry.last_write_time(failure);
    if (!used && !failure && fs::file_time_type::clock::now() - made >= age) old.push_back(entry.path());
  }
  for (const fs::path& path : old) {
    // The rename comes first: a partly removed directory must not look like a version.
    const std::string aside = path.string() + ".old";
    fs::rename(path, aside, failure);
    if (!failure) fs::remove_all(aside, failure);
    if (!failure) removed.push_back(path);
  }
  return removed;
}

}  // namespace crossover::deviceplugin
