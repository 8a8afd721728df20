// Wraps epoll with a timeout in nanoseconds, on all kernels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/fd.h"
#include "turn/policy.h"

namespace crossover::arbiter {

class Poller {
 public:
  bool Open(std::string* error);
  int fd() const { return fd_.get(); }  // readable while Wait() would return a tag
  bool Add(int fd, std::uint64_t tag);
  void Remove(int fd);

  // Returns the tags of the descriptors that are readable or hung up, at most kMostPerWait of them, in no
  // order. The result is valid until the next call. Blocks for at most `timeout`, in ns from now; with
  // turn::kNever, until there is one.
  static constexpr int kMostPerWait = 32;
  const std::vector<std::uint64_t>& Wait(turn::Time timeout);

 private:
  base::UniqueFd fd_;
  std::vector<std::uint64_t> ready_;
};

}  // namespace crossover::arbiter
