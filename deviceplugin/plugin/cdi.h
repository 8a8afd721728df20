// Tells whether the container runtime supports the CDI devices that an allocation names. Pure.
#pragma once

#include <string>
#include <string_view>

namespace crossover::deviceplugin {

// Returns why CDI devices do not reach containers, in words. Returns an empty string if they do, or if it
// is not known. `runtime` is the version that the kubelet reports, such as "containerd://1.6.20".
// containerd before 1.7 silently ignores CDI devices, and containers start without their GPU. containerd
// 1.7 supports them if its configuration enables them, which this function cannot see.
std::string WhyNoCdi(std::string_view runtime);

}  // namespace crossover::deviceplugin
