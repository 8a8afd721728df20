// Names the node of this process.
#pragma once

#include <cstddef>
#include <span>

namespace crossover::shrink::library {

// A Name is NCCL's: NCCL_HOSTID if it is set, else the host name and the number of the machine's boot. Pods
// have host names of their own, so they are nodes of their own, as they are to NCCL.
struct Name {
  char text[512];
  std::size_t size = 0;
  std::span<const char> view() const { return std::span(text).first(size); }
};
Name NodeName();

}  // namespace crossover::shrink::library
