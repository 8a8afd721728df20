// Whether a file is another than it was, without reading it.
#pragma once

#include <cstdint>
#include <string>

namespace crossover::files {

struct Stamp {
  std::uint64_t device = 0, inode = 0, size = 0;
  std::int64_t changed_ns = 0;
  friend bool operator==(const Stamp&, const Stamp&) = default;
};

// Of what the path leads to now; of nothing, all are alike.
Stamp StampOf(const std::string& path);

}  // namespace crossover::files
