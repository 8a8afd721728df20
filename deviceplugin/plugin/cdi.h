// Whether a container runtime gives containers the CDI devices that are asked for. Pure.
#pragma once

#include <string>
#include <string_view>

namespace crossover::deviceplugin {

// Why CDI devices would not reach containers, in words; empty where they would, or nothing is known.
// `runtime`: as the kubelet says it, "containerd://1.6.20". A containerd before 1.7 ignores them without a
// word, and containers start without their GPU; one of 1.7 has them where it was configured to, which is not
// seen here.
std::string WhyNoCdi(std::string_view runtime);

}  // namespace crossover::deviceplugin
