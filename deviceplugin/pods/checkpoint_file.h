// Caches the kubelet's checkpoint file: reads and parses it once for all callers, and again when it
// changes. Thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "deviceplugin/pods/checkpoint.h"

namespace crossover::deviceplugin {

class CheckpointFile {
 public:
  // Reads the file in `directory`, the kubelet's device plugin directory. `resource` is the name of our
  // resource.
  CheckpointFile(std::string directory, std::string resource);

  // Returns the content of the file as it is now. If the file does not exist, the result is empty, because
  // a kubelet without the file has not handed out anything yet. Returns null if the file cannot be read or is
  // not a checkpoint file.
  //
  // The result is never stale. The kubelet replaces the file by rename, so the inode, the times or the size
  // change. Two renames within one clock tick of the file system could leave all of these the same. A file
  // that is so young is therefore read again.
  std::shared_ptr<const Checkpoint> Read() const;

  // Returns how often the file was parsed.
  std::uint64_t parsed() const;

 private:
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t written_ns = 0, changed_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  static std::optional<Stamp> StampOf(const std::string& path);
  bool IsKept(const Stamp& stamp) const;  // REQUIRES: mutex_ is held

  const std::string path_;
  const std::string resource_;
  mutable std::mutex mutex_;
  mutable Stamp stamp_;  // stamp of the file from which kept_ was parsed
  // Says whether the file was so old, when it was read, that no later file can have the same stamp.
  mutable bool settled_ = false;
  mutable std::shared_ptr<const Checkpoint> kept_;
  mutable std::uint64_t parsed_ = 0;
};

}  // namespace crossover::deviceplugin
