// Watches over the folder that pods under MPS have as their /dev/shm. Nothing else removes what killed pods
// leave there: it is no pod's own.
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

// Returns what the text of /proc/PID/mountinfo says of `folder`; the last mount there counts. Pure.
ShmMount ShmMountIn(std::string_view mountinfo, const std::string& folder);

// Returns the room in the tmpfs that is mounted at `folder`, or nothing if there is none.
std::optional<ShmRoom> RoomInShm(const std::string& folder);

// Removes what is in the folder that `folder`, a descriptor, has open, and returns how many files and folders
// that were. Follows no link, leaves other file systems alone, removes `most` at most, and keeps what begins
// with "cuda." at the top, which MPS's server may have in use.
std::size_t RemoveLeftovers(int folder, std::size_t most);

// Removes what pods have left in the tmpfs at `folder`. Does nothing where it is not ours. Returns how many
// files and folders were removed.
std::size_t EmptyShm(const std::string& folder);

// A ShmIdle decides when the folder may be emptied. Pure; not thread-safe.
class ShmIdle {
 public:
  using Time = std::int64_t;                      // ns of any clock
  static constexpr Time kQuiet = 30'000'000'000;  // a new pod is known by then

  // Returns whether for kQuiet no living pod was under MPS and the kubelet handed nothing out. Returns true
  // at most once each kQuiet.
  bool Passed(const std::vector<HandedOut>& handed_out, bool in_use, Time now);

 private:
  std::vector<HandedOut> handed_out_;
  std::optional<Time> since_;
};

}  // namespace crossover::deviceplugin
