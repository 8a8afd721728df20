// Defines the state of MPS that a node daemon reports, for `crossover doctor` and metrics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace crossover::deviceplugin {

// A ShmRoom is the size of the file system that pods under MPS have as /dev/shm, and what is free there, in
// bytes.
struct ShmRoom {
  std::uint64_t bytes = 0;
  std::uint64_t free_bytes = 0;

  friend bool operator==(const ShmRoom&, const ShmRoom&) = default;
};

struct MpsNews {
  std::string fault{};           // why MPS takes no new clients although its control daemon runs, or ""
  std::string unasked{};         // why the daemon cannot ask MPS's control daemon, which runs, or ""
  std::optional<ShmRoom> shm{};  // unset: there is no such file system
};

}  // namespace crossover::deviceplugin
