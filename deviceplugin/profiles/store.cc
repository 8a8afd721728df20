#include "deviceplugin/profiles/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "common/base/fd.h"
#include "common/base/refusal.h"
#include "common/files/read_file.h"
#include "common/files/write_all.h"
#include "common/logging/log.h"
#include "deviceplugin/profiles/profile_messages.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::string_view kSuffix = ".json";
constexpr std::string_view kTemporary = ".tmp";  // the file's name also gets a dot in front
constexpr std::size_t kMostRead = 1 << 20;

std::string Because(const std::string& what) { return what + ": " + std::strerror(errno); }

// Returns whether the disk is the cause: full, broken, or read-only, as a file system becomes after errors.
// These are not errors of the configuration.
bool IsOfTheDisk(int why) { return why == ENOSPC || why == EDQUOT || why == EROFS || why == EIO; }

// Creates the directory `path` and its missing parents. Returns 0, or the errno of what went wrong, with one
// line in `error`.
int MakeDirectories(const std::string& path, std::string* error) {
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    const bool last = end == std::string::npos;
    const std::string part = path.substr(0, end);
    if (mkdir(part.c_str(), last ? 0700 : 0755) != 0 && errno != EEXIST) {
      const int why = errno;
      *error = Because(part + " cannot be made");
      return why;
    }
    if (last) return 0;
  }
}

bool CheckDirectory(const std::string& path, std::string* error) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) {
    *error = Because(path);
  } else if (!S_ISDIR(status.st_mode)) {
    *error = base::Refusal(path, "a directory", "another file");
  } else if (status.st_uid != geteuid() || (status.st_mode & 022) != 0) {
    std::array<char, 64> got;
    std::snprintf(got.data(), got.size(), "one of user %u with mode %o", status.st_uid,
                  status.st_mode & 07777);
    *error = base::Refusal(
        path, "a directory of user " + std::to_string(geteuid()) + " that no other may write", got.data());
  } else {
    return true;
  }
  return false;
}

std::vector<std::string> Names(const std::string& directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> listing(opendir(directory.c_str()), closedir);
  while (listing != nullptr) {
    const dirent* entry = readdir(listing.get());  // NOLINT(concurrency-mt-unsafe): a listing of our own
    if (entry == nullptr) break;
    names.emplace_back(entry->d_name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

std::unique_ptr<ProfileStore> ProfileStore::Open(const std::string& directory, std::string* error,
                                                 std::size_t most) {
  auto store = std::unique_ptr<ProfileStore>(new ProfileStore(directory, most));
  int why = MakeDirectories(directory, error);
  const bool there = why == 0;
  if (there) {
    if (!CheckDirectory(directory, error)) return nullptr;
    why = store->Write(".writable", "", error);
  }
  if (why != 0 && !IsOfTheDisk(why)) return nullptr;
  if (why != 0) {
    logging::Error("profiles are kept in memory alone: " + *error);
    ++store->write_failures_;
    store->complained_ = true;
  }
  if (there) {
    unlink((directory + "/.writable").c_str());
    store->ReadAll();
  }
  return store;
}

void ProfileStore::ReadAll() {
  for (const std::string& name : Names(directory_)) {
    if (name.front() == '.' && name.ends_with(kTemporary)) unlink((directory_ + "/" + name).c_str());
    if (name.front() != '.' && name.ends_with(kSuffix)) ReadOne(name);
  }
  std::vector<JobKey> surplus;
  {
    const std::lock_guard lock(mutex_);
    surplus = TakeSurplus();
  }
  RemoveFiles(surplus);
}

void ProfileStore::ReadOne(const std::string& file) {
  const std::string path = directory_ + "/" + file;
  std::string error;
  const std::optional<std::string> text = files::ReadFileOfOthers(path, kMostRead, &error);
  std::optional<JobProfile> profile;
  if (text) profile = ParseProfile(*text, path, Clocks::Now(), &error);
  if (profile && ProfileFileName(profile->job) != file) {
    error = base::Refusal(path + ": gang", "one whose profile is in this file",
                          profile->job.gang + ", whose file is " + ProfileFileName(profile->job));
    profile.reset();
  }
  if (profile) {
    const std::lock_guard lock(mutex_);
    profiles_[profile->job] = *profile;
    return;
  }
  logging::Warn("a profile cannot be read, and is set aside as *.broken: " + error);
  SetAside(path);
}

void ProfileStore::SetAside(const std::string& path) {
  std::string aside = path + ".broken";
  for (int i = 1; access(aside.c_str(), F_OK) == 0; ++i) aside = path + "." + std::to_string(i) + ".broken";
  if (rename(path.c_str(), aside.c_str()) != 0) {
    logging::Warn(Because("profiles: " + path + " cannot be set aside"));
  }
}

std::vector<JobKey> ProfileStore::TakeSurplus() {
  std::vector<JobKey> surplus;
  while (profiles_.size() > most_) {
    std::map<std::uint32_t, std::size_t> count;
    for (const auto& [job, profile] : profiles_) ++count[job.uid];
    const auto most = std::max_element(count.begin(), count.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    auto oldest = profiles_.end();
    for (auto it = profiles_.begin(); it != profiles_.end(); ++it) {
      if (it->first.uid != most->first) continue;
      if (oldest == profiles_.end() || it->second.newest() < oldest->second.newest()) oldest = it;
    }
    surplus.push_back(oldest->first);
    profiles_.erase(oldest);
  }
  return surplus;
}

void ProfileStore::RemoveFiles(const std::vector<JobKey>& jobs) const {
  for (const JobKey& job : jobs) unlink((directory_ + "/" + ProfileFileName(job)).c_str());
}

std::vector<JobProfile> ProfileStore::All() const {
  const std::lock_guard lock(mutex_);
  std::vector<JobProfile> all;
  for (const auto& [job, profile] : profiles_) all.push_back(profile);
  return all;
}

std::optional<turn::Demand> ProfileStore::Find(const std::string& gang, std::uint32_t uid,
                                               std::uint32_t size) const {
  const std::lock_guard lock(mutex_);
  const auto found = profiles_.find({.gang = gang, .uid = uid, .size = size});
  if (found == profiles_.end() || !found->second.demand().known()) return std::nullopt;
  return found->second.demand();
}

void ProfileStore::Put(const JobProfile& profile) {
  const std::lock_guard files_lock(files_mutex_);
  std::vector<JobKey> surplus;
  {
    const std::lock_guard lock(mutex_);
    profiles_[profile.job] = profile;
    surplus = TakeSurplus();
  }
  RemoveFiles(surplus);
  std::string error;
  if (Write(ProfileFileName(profile.job), ProfileText(profile, Clocks::Now()), &error) == 0) {
    complained_ = false;
    return;
  }
  ++write_failures_;
  if (!std::exchange(complained_, true)) logging::Warn("a profile cannot be written: " + error);
}

int ProfileStore::Write(const std::string& file, const std::string& text, std::string* error) const {
  const std::string path = directory_ + "/" + file;
  const std::string temporary = directory_ + "/." + file + std::string(kTemporary);
  unlink(temporary.c_str());
  base::UniqueFd fd(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!fd) {
    const int why = errno;
    *error = Because(temporary + " cannot be made");
    return why;
  }
  if (!files::WriteAll(fd.get(), text) || fsync(fd.get()) != 0 ||
      rename(temporary.c_str(), path.c_str()) != 0) {
    const int why = errno;
    *error = Because(path + " cannot be written");
    unlink(temporary.c_str());
    return why;
  }
  const base::UniqueFd directory(open(directory_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) fsync(directory.get());
  return 0;
}

}  // namespace crossover::deviceplugin
