// What a job computes before each of its collectives, as text: one line for each collective of an iteration,
// "FUNCTION COUNT NS", such as "AllReduce 262144 1500000". The count is the one that goes over the links.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/nccl/types.h"

namespace simgpu::peer {

struct Stretch {
  std::string function;
  std::uint64_t count = 0;
  std::uint64_t compute_ns = 0;  // since the collective before
};

// Nothing, with *error naming the line, where the file cannot be read or says something else.
std::optional<std::vector<Stretch>> ReadProfile(const std::string& path, std::string* error);

// Follows the calls of a job through its iterations. A call that does not fit (set-up, evaluation) is none of
// them.
class Follower {
 public:
  explicit Follower(std::vector<Stretch> profile) : profile_(std::move(profile)) {}

  struct Place {
    std::uint64_t compute_ns = 0;  // to be done before the call
    bool ends = true;              // compute waits for it: it is the last of its iteration, or of none
  };
  Place Next(const nccl::Call& call);

 private:
  bool Fits(const nccl::Call& call) const;

  std::vector<Stretch> profile_;
  std::size_t next_ = 0;
};

}  // namespace simgpu::peer
