#include "deviceplugin/mps/shm.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <memory>
#include <sstream>

#include "common/base/fd.h"
#include "common/files/read_file.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kSource[] = "crossover-mps";  // as the chart's pod of MPS names it
constexpr std::string_view kOfCuda = "cuda.";
constexpr std::size_t kMost = 100'000;
constexpr int kDeepest = 32;

// Returns what is mounted at `folder` for this process.
ShmMount MountAt(const std::string& folder) {
  std::string why;
  return ShmMountIn(files::ReadFile("/proc/self/mountinfo", &why).value_or(""), folder);
}

std::vector<std::string> NamesIn(int folder) {
  std::vector<std::string> names;
  const int copy = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (copy < 0) return names;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(fdopendir(copy), &closedir);
  if (open == nullptr) {
    close(copy);
    return names;
  }
  while (const dirent* entry = readdir(open.get())) {  // NOLINT(concurrency-mt-unsafe): a stream of our own
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  return names;
}

// Removes files and folders in a folder of the file system `device`, `most` of them at most. Returns how many
// it has removed.
std::size_t RemoveIn(int folder, dev_t device, std::size_t most, int depth) {
  std::size_t removed = 0;
  for (const std::string& name : NamesIn(folder)) {
    if (removed >= most) break;
    if (depth == 0 && name.compare(0, kOfCuda.size(), kOfCuda) == 0) continue;
    struct stat status {};
    if (fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_dev != device) continue;
    if (!S_ISDIR(status.st_mode)) {
      removed += unlinkat(folder, name.c_str(), 0) == 0 ? 1 : 0;
      continue;
    }
    const base::UniqueFd inner(openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    // Checks again: another folder may have taken its place meanwhile.
    if (!inner || fstat(inner.get(), &status) != 0 || status.st_dev != device) continue;
    if (depth < kDeepest) removed += RemoveIn(inner.get(), device, most - removed, depth + 1);
    removed += unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 ? 1 : 0;
  }
  return removed;
}

}  // namespace

ShmMount ShmMountIn(std::string_view mountinfo, const std::string& folder) {
  // The fields are: id, parent, device, root, mount point, options, any number of others, "-", type, source.
  ShmMount found = ShmMount::kOther;
  std::istringstream lines{std::string(mountinfo)};
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, root, point, word, type, source;
    if (!(fields >> id >> parent >> device >> root >> point) || point != folder) continue;
    while (fields >> word && word != "-") {
    }
    found = ShmMount::kOther;
    if (!(fields >> type >> source) || type != "tmpfs" || root != "/") continue;
    found = source == kSource ? ShmMount::kOurs : ShmMount::kTmpfs;
  }
  return found;
}

std::optional<ShmRoom> RoomInShm(const std::string& folder) {
  struct statvfs room {};
  if (MountAt(folder) == ShmMount::kOther || statvfs(folder.c_str(), &room) != 0) return std::nullopt;
  return ShmRoom{.bytes = room.f_blocks * room.f_frsize, .free_bytes = room.f_bavail * room.f_frsize};
}

std::size_t RemoveLeftovers(int folder, std::size_t most) {
  struct stat status {};
  return fstat(folder, &status) == 0 ? RemoveIn(folder, status.st_dev, most, 0) : 0;
}

std::size_t EmptyShm(const std::string& folder) {
  if (MountAt(folder) != ShmMount::kOurs) return 0;
  const base::UniqueFd open_folder(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct statfs system {};
  // Checks again: the tmpfs may have been unmounted meanwhile.
  if (!open_folder || fstatfs(open_folder.get(), &system) != 0 || system.f_type != TMPFS_MAGIC) return 0;
  return RemoveLeftovers(open_folder.get(), kMost);
}

bool ShmIdle::Passed(const std::vector<DeviceAllocation>& handed_out, bool in_use, Time now) {
  const bool same = handed_out == handed_out_;
  if (!same) handed_out_ = handed_out;
  if (in_use || !same || !since_) {
    since_.reset();
    if (!in_use) since_ = now;
    return false;
  }
  if (now - *since_ < kQuiet) return false;
  since_ = now;
  return true;
}

}  // namespace crossover::deviceplugin
