// Cleans the folder that pods under MPS have as their /dev/shm. They share it, so nothing else removes what
// killed pods leave there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "deviceplugin/mps/news.h"
#include "deviceplugin/pods/checkpoint.h"

namespace crossover::deviceplugin {

// A ShmMount says what is mounted at the folder. kOther: nothing, or no tmpfs. kOurs: the tmpfs that the
// chart's pod of MPS mounts, which is known by its source, crossover-mps.
enum class ShmMount : std::uint8_t { kOther, kTmpfs, kOurs };

// Returns what is mounted at `folder`, by `mountinfo`, the text of /proc/PID/mountinfo. The last mount there
// counts. Pure.
ShmMount ShmMountIn(std::string_view mountinfo, const std::string& folder);

// Returns the room in the tmpfs that is mounted at `folder`, or nothing if there is none.
std::optional<ShmRoom> RoomInShm(const std::string& folder);

// Removes the files and folders in the open directory `folder`, a descriptor, and returns how many it has
// removed. Follows no link, leaves other file systems alone, and removes `most` at most. Keeps entries at the
// top whose names begin with "cuda.", which MPS's server may have in use.
std::size_t RemoveLeftovers(int folder, std::size_t most);

// Removes what pods have left in the tmpfs at `folder`. Does nothing unless it is ours (ShmMount::kOurs).
// Returns how many files and folders it has removed.
std::size_t EmptyShm(const std::string& folder);

// A ShmIdle decides when the folder may be emptied. Pure; not thread-safe.
class ShmIdle {
 public:
  using Time = std::int64_t;                      // ns of any clock
  static constexpr Time kQuiet = 30'000'000'000;  // long enough for the daemon to learn of a new pod

  // Takes the state of a look. Returns true if, for kQuiet, no living pod was under MPS (`in_use`) and
  // `handed_out` did not change. Returns true at most once per kQuiet.
  bool Passed(const std::vector<DeviceAllocation>& handed_out, bool in_use, Time now);

 private:
  std::vector<DeviceAllocation> handed_out_;
  std::optional<Time> since_;  // when the present quiet time began; unset: there is none
};

}  // namespace crossover::deviceplugin
