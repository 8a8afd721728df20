// libs: simgpu_image
// Any text read as PTX is refused with a line of explanation, or gives kernels whose parameters follow each
// other.
#include <cstdint>
#include <string>

#include "simgpu/image/ptx.h"
#include "tests/fuzz/require.h"

namespace {

using crossover::fuzz::Require;

void Check(const std::string& text) {
  simgpu::image::IsPtx(text);
  simgpu::image::ArchitectureOfPtx(text);
  std::string error;
  const auto image = simgpu::image::ParsePtx(text, &error);
  Require(image || !error.empty());
  if (!image) return;
  for (const auto& kernel : image->kernels) {
    std::uint64_t end = 0;
    Require(!kernel.name.empty());
    for (const auto& parameter : kernel.parameters) {
      Require(parameter.offset >= end);
      end = std::uint64_t{parameter.offset} + parameter.bytes;
    }
  }
  for (const auto& global : image->globals) Require(global.initial.size() <= global.bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  Check(text);
  Check(".version 9.0\n.target sm_90\n.visible .entry kernel(.param .u64 first" + text);
  return 0;
}
