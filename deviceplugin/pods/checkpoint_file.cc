#include "deviceplugin/pods/checkpoint_file.h"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "common/base/clock.h"
#include "common/files/read_file.h"

namespace crossover::deviceplugin {
namespace {

constexpr char kName[] = "/kubelet_internal_checkpoint";
// Clocks of file systems have a resolution of some milliseconds.
constexpr std::int64_t kLongerThanATick = 2 * base::kNsPerSecond;

std::int64_t Ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * base::kNsPerSecond + time.tv_nsec;
}

std::int64_t WallNs() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return Ns(now);
}

}  // namespace

CheckpointFile::CheckpointFile(std::string directory, std::string resource)
    : path_(std::move(directory) + kName), resource_(std::move(resource)) {}

// Returns nullopt, with errno set, if stat() fails.
std::optional<CheckpointFile::Stamp> CheckpointFile::StampOf(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0) return std::nullopt;
  return Stamp{.device = file.st_dev,
               .inode = file.st_ino,
               .size = static_cast<std::uint64_t>(file.st_size),
               .written_ns = Ns(file.st_mtim),
               .changed_ns = Ns(file.st_ctim)};
}

bool CheckpointFile::IsKept(const Stamp& stamp) const {
  return settled_ && kept_ != nullptr && stamp == stamp_;
}

std::shared_ptr<const Checkpoint> CheckpointFile::Read() const {
  const std::int64_t now = WallNs();
  const auto stamp = StampOf(path_);
  if (!stamp) return errno == ENOENT ? std::make_shared<const Checkpoint>() : nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (IsKept(*stamp)) return kept_;
  }
  std::string why;
  const auto text = files::ReadFile(path_, &why);
  auto parsed = text ? ParseCheckpoint(*text, resource_) : std::nullopt;
  if (!parsed) return nullptr;
  auto checkpoint = std::make_shared<const Checkpoint>(*std::move(parsed));
  const bool same = StampOf(path_) == stamp;
  const std::lock_guard lock(mutex_);
  ++parsed_;
  stamp_ = *stamp;
  settled_ = same && now - std::max(stamp->written_ns, stamp->changed_ns) > kLongerThanATick;
  kept_ = checkpoint;
  return checkpoint;
}

std::uint64_t CheckpointFile::parsed() const {
  const std::lock_guard lock(mutex_);
  return parsed_;
}

}  // namespace crossover::deviceplugin
