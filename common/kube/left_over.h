// Models how a kubelet reuses devices. The devices of a plain init container pass to the containers after
// it. If such a container requests fewer devices, the kubelet picks some of them at random, and the
// assignment cannot be predicted. Pure.
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

// Hands out devices in the order in which a kubelet starts the containers. Calls `give` for each container
// that requests devices: it takes all devices that are left over and `fresh` more. Returns "", or in words
// what is wrong with the requests and what is expected.
std::string HandOut(std::span<const DeviceAsk> containers,
                    const std::function<void(std::size_t index, int fresh)>& give = nullptr);

}  // namespace crossover::kube
