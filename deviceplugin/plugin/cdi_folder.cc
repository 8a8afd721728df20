#include "deviceplugin/plugin/cdi_folder.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <set>
#include <system_error>

#include "common/base/fd.h"
#include "common/files/read_file.h"
#include "common/files/write_all.h"
#include "common/logging/log.h"

namespace crossover::deviceplugin {
namespace {

namespace fs = std::filesystem;

constexpr char kOwnFile[] = "crossover.dev-gpu.json";
constexpr std::uintmax_t kLongestFile = 4 << 20;  // bytes of a file
constexpr std::size_t kMostFiles = 256;           // of one folder

bool IsSpecFile(const fs::path& path) {
  const std::string extension = path.extension();
  return path.filename() != kOwnFile && (extension == ".json" || extension == ".yaml" || extension == ".yml");
}

std::string ReasonOf(int error) { return std::error_code(error, std::generic_category()).message(); }

// Replaces the file at `path`. Returns why that failed, or an empty string.
std::string Replace(const std::string& path, const std::string& text) {
  std::error_code failure;
  fs::create_directories(fs::path(path).parent_path(), failure);
  const std::string draft = path + ".new";  // readers of the folder go by the end of a name
  {
    const base::UniqueFd file(
        open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644));
    if (!file || !files::WriteAll(file.get(), text) || fchmod(file.get(), 0644) != 0 ||
        fsync(file.get()) != 0)
      return path + ": cannot be written: " + ReasonOf(errno);
  }
  if (rename(draft.c_str(), path.c_str()) != 0) return path + ": cannot be written: " + ReasonOf(errno);
  return "";
}

}  // namespace

std::string CdiFolder::path() const { return settings_.write + "/" + kOwnFile; }

// Returns the specifications of others. Logs a file that is none once for each time that it changes.
std::vector<CdiSpec> CdiFolder::Read() {
  std::map<std::string, File> now;
  std::vector<CdiSpec> specs;
  for (const std::string& folder : settings_.read) {
    std::error_code failure;
    std::size_t files = 0;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (!IsSpecFile(entry->path()) || ++files > kMostFiles) continue;
      const std::string path = entry->path();
      File file{.id = files::FileIdOf(path), .spec = {}};
      const auto before = files_.find(path);
      if (before != files_.end() && before->second.id == file.id) {
        file.spec = before->second.spec;
      } else {
        std::string error = path + ": longer than 4 MiB";
        std::error_code no_size;
        const bool fits = fs::file_size(path, no_size) <= kLongestFile && !no_size;
        if (const auto text = fits ? files::ReadFile(path, &error) : std::nullopt)
          file.spec = ReadCdiSpec(*text, path, &error);
        if (!file.spec) logging::Warn("CDI: " + error);
      }
      if (file.spec) specs.push_back(*file.spec);
      now.emplace(path, std::move(file));
    }
  }
  files_ = std::move(now);
  return specs;
}

// Returns the node's files of NVIDIA's driver, each once.
std::vector<std::string> CdiFolder::DeviceFiles() const {
  std::set<std::string> found;
  for (const std::string& root : settings_.roots) {
    std::error_code failure;
    for (fs::directory_iterator entry(root + "/dev", failure), end; !failure && entry != end;
         entry.increment(failure)) {
      const std::string name = entry->path().filename();
      if (name.starts_with("nvidia")) found.insert("/dev/" + name);
    }
  }
  return {found.begin(), found.end()};
}

CdiFolder::State CdiFolder::Look(const Wanted& wanted) {
  const CdiChoice choice = ChooseCdi(wanted.source, {.found = Read(),
                                                     .gpus = wanted.gpus,
                                                     .device_files = DeviceFiles(),
                                                     .given_kind = wanted.given_kind,
                                                     .driver_root = wanted.driver_root});
  State state;
  if (const auto* none = std::get_if<CdiNone>(&choice)) state.why = none->why;
  if (const auto* own = std::get_if<CdiOwn>(&choice)) {
    state.own = true;
    std::string ignored;
    if (files::ReadFile(path(), &ignored) != own->text) {
      state.why = Replace(path(), own->text);
      if (state.why.empty()) logging::Info("CDI: " + path() + " names the GPUs of this node");
    }
  }
  if (state.why != last_.why && !state.why.empty()) logging::Warn("CDI: " + state.why);
  const bool given = !wanted.gpus.empty() && std::holds_alternative<CdiGiven>(choice);
  if (given && !given_) logging::Info("CDI: the names of GPUs are those of a given specification");
  given_ = given;
  last_ = state;
  return state;
}

}  // namespace crossover::deviceplugin
