// The kubelet's file, read and parsed once for all who ask, and again when it is another. Thread-safe.
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
  // In a kubelet's device plugin directory. `resource`: ours.
  CheckpointFile(std::string directory, std::string resource);

  // As the file is now. Never null: of a file that is not there an empty one, as of a kubelet that has not
  // handed out anything yet. Null where it cannot be read, or is no such file.
  //
  // Nobody gets what was there before: a kubelet writes another file and puts it in place of the one before,
  // so that one of the inode, its times and its size differs; where two might have come within one tick of
  // the file system's clock, which all of these could outlive, the file is read again.
  std::shared_ptr<const Checkpoint> Read() const;

  // How often it was parsed.
  std::uint64_t parsed() const;

 private:
  struct Stamp {
    std::uint64_t device = 0, inode = 0, size = 0;
    std::int64_t written_ns = 0, changed_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  static std::optional<Stamp> StampOf(const std::string& path);
  bool IsKept(const Stamp& stamp) const;  // with the lock

  const std::string path_;
  const std::string resource_;
  mutable std::mutex mutex_;
  mutable Stamp stamp_;           // of what is kept
  mutable bool settled_ = false;  // it was old enough by then that no other could have the same stamp
  mutable std::shared_ptr<const Checkpoint> kept_;
  mutable std::uint64_t parsed_ = 0;
};

}  // namespace crossover::deviceplugin
