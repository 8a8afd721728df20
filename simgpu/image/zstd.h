// Unpacks frames of Zstandard, in which compilers pack images, by its own library. Without dictionaries,
// which no compiler uses. The bare build is without that library and refuses each frame. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/image/view.h"

namespace simgpu::image {

// Unpacks frames that hold `bytes` bytes together. Returns no value, and puts one line in *error, if they
// hold another number of them or are malformed.
std::optional<std::vector<std::uint8_t>> UnpackZstd(View packed, std::size_t bytes, std::string* error);

}  // namespace simgpu::image
