// States which release of NVIDIA's runtime this library stands in for.
#pragma once

namespace simgpu::runtime {

// 13.2: the release that torch 2.15.0+cu132 is built with. The interface is that of the headers
// of 13.0: within a major release old calls keep their form.
constexpr int kRuntimeVersion = 13020;

}  // namespace simgpu::runtime
