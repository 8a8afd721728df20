// Models how a kubelet reuses devices. The devices of a plain init container pass to the containers after it.
// If the next container requests fewer devices, the kubelet picks some of them at random, and nothing can
// predict which. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

namespace crossover::kube {

// A DeviceAsk is the device request of one container.
struct DeviceAsk {
  std::string name;  // container name, for messages to users
  int devices = 0;
  bool hands_on = false;  // an init container that ends and passes its devices to the containers after it
};

// Hands out devices in the order in which a kubelet starts the containers. Calls `give`, unless null, for
// each container that requests devices: the container takes all devices that are left over, and `fresh` new
// ones. Returns "". If the requests are wrong, stops and returns in words what is wrong and what is expected.
std::string HandOut(std::span<const DeviceAsk> containers,
                    const std::function<void(std::size_t index, int fresh)>& give = nullptr);

}  // namespace crossover::kube
