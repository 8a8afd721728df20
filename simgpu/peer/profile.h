// Reads what a job computes before each of its collectives. The text has one line for each collective of an
// iteration, "FUNCTION COUNT NS", such as "AllReduce 262144 1500000". The count is the one that goes over
// the links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/nccl/types.h"

namespace simgpu::peer {

// A Stretch is the compute before one collective.
struct Stretch {
  std::string function;
  std::uint64_t count = 0;
  std::uint64_t compute_ns = 0;  // since the previous collective
};

// Reads a profile from a file. Returns no value if the file cannot be read or a line is malformed; *error
// then names the file and the line.
std::optional<std::vector<Stretch>> ReadProfile(const std::string& path, std::string* error);

// A Follower follows the calls of a job through its iterations. A call that does not fit (set-up,
// evaluation) belongs to no iteration.
class Follower {
 public:
  explicit Follower(std::vector<Stretch> profile) : profile_(std::move(profile)) {}

  struct Place {
    std::uint64_t compute_ns = 0;  // compute before the call
    // If true, later compute waits for the call: it is the last of its iteration, or belongs to none.
    bool ends = true;
  };
  // Returns the place of the next call in the iteration.
  Place Next(const nccl::Call& call);

 private:
  bool Fits(const nccl::Call& call) const;

  std::vector<Stretch> profile_;
  std::size_t next_ = 0;
};

}  // namespace simgpu::peer
