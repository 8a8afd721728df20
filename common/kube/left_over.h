// Devices that a kubelet hands on: what a plain init container had goes to those after it, at random where
// such a container asks for less. Then nobody can say which devices each gets. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace crossover::kube {

struct DeviceAsk {
  std::string name;  // of the container, as users are to read it
  int devices = 0;
  bool hands_on = false;  // it initialises, ends, and leaves its own to those after it
};

// In the order in which a kubelet starts them. `give`: each that asks for any takes all that is left over,
// and `fresh` more. What is wrong with them, and what is allowed, in words; or "".
std::string HandOut(std::span<const DeviceAsk> containers,
                    const std::function<void(std::size_t index, int fresh)>& give = nullptr);

}  // namespace crossover::kube
