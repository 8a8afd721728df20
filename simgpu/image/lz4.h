// Unpacks a block of LZ4, in which older compilers pack images. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/image/view.h"

namespace simgpu::image {

// Unpacks one block that holds `bytes` bytes. Returns no value, and puts one line in *error, if it holds
// another number of them or is malformed.
std::optional<std::vector<std::uint8_t>> UnpackLz4(View packed, std::size_t bytes, std::string* error);

}  // namespace simgpu::image
