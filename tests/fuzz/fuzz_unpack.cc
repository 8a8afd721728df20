// libs: simgpu_image
// Any bytes are unpacked to exactly the size that is asked for, or refused with a line of explanation. The
// first two bytes of the input are that size; the others are the packed bytes.
#include <cstdint>
#include <string>

#include "simgpu/image/lz4.h"
#include "simgpu/image/zstd.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using crossover::fuzz::Require;
  if (size < 2) return 0;
  const std::size_t bytes = data[0] + 256u * data[1];
  const simgpu::image::View packed(data + 2, size - 2);
  for (const auto& unpack : {simgpu::image::UnpackLz4, simgpu::image::UnpackZstd}) {
    std::string error;
    const auto unpacked = unpack(packed, bytes, &error);
    Require(unpacked ? unpacked->size() == bytes : !error.empty());
  }
  return 0;
}
