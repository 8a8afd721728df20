// libs: simgpu_image
// Any bytes given as machine code, and machine code of which the input changes some bytes, are refused with a
// line of explanation or read. What is read agrees with its own file.
#include <algorithm>
#include <cstdint>
#include <string>

#include "simgpu/image/cubin.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/image_maker.h"
#include "tests/fuzz/require.h"

namespace {

using crossover::fuzz::Require;

void Check(simgpu::image::View bytes) {
  std::string error;
  const auto size = simgpu::image::SizeOfCubin(bytes, &error);
  Require(size ? *size <= bytes.size() : !error.empty());
  error.clear();
  const auto image = simgpu::image::ParseCubin(bytes, &error);
  Require(image || !error.empty());
  if (!image) return;
  for (const auto& kernel : image->kernels) {
    Require(!kernel.name.empty());
    Require(std::is_sorted(kernel.parameters.begin(), kernel.parameters.end(),
                           [](const auto& a, const auto& b) { return a.offset < b.offset; }));
  }
  for (const auto& global : image->globals) Require(global.initial.size() <= global.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Check({data, size});
  crossover::fuzz::Bytes input(data, size);
  simgpu::image::Bytes made = simgpu::image::SomeCubin();
  while (!input.empty()) {
    const std::size_t at = input.Next<std::uint16_t>() % made.size();
    input.Take(made.data() + at, std::min<std::size_t>(1 + input.NextByte() % 8, made.size() - at));
    Check(made);
  }
  return 0;
}
