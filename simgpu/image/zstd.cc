#include "simgpu/image/zstd.h"

#ifndef CROSSOVER_WITHOUT_ZSTD
#include <zstd.h>
#endif

#include <algorithm>

#include "common/base/refusal.h"

namespace simgpu::image {

#ifdef CROSSOVER_WITHOUT_ZSTD
std::optional<std::vector<std::uint8_t>> UnpackZstd(View, std::size_t, std::string* error) {
  *error = "Zstandard frame: this software GPU is built without Zstandard's library (CROSSOVER_BARE)";
  return std::nullopt;
}
#else
std::optional<std::vector<std::uint8_t>> UnpackZstd(View packed, std::size_t bytes, std::string* error) {
  // A block of up to 128 KiB takes four bytes at least, so a false size cannot ask for much memory.
  constexpr std::size_t kMostOfABlock = std::size_t{128} << 10;
  const std::size_t most = std::min(bytes, (packed.size() / 4 + 1) * kMostOfABlock);
  std::vector<std::uint8_t> out(most);
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), packed.data(), packed.size());
  if (ZSTD_isError(got) == 0 && got == bytes) return out;
  *error = crossover::base::Refusal("Zstandard frame", std::to_string(bytes) + " bytes",
                                    ZSTD_isError(got) != 0 ? ZSTD_getErrorName(got) : std::to_string(got));
  return std::nullopt;
}
#endif

}  // namespace simgpu::image
