// libs: simgpu_image
// In any bytes, and in a fat binary of which the input changes some bytes, an image is chosen that fits the
// GPU and lies within them, or a line says why none is. What was chosen is read or refused with a line.
#include <algorithm>
#include <cstdint>
#include <string>

#include "simgpu/image/fatbin.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/image_maker.h"
#include "tests/fuzz/require.h"

namespace {

using crossover::fuzz::Require;
using simgpu::image::Choice;

void Check(simgpu::image::View bytes) {
  const Choice choice = simgpu::image::Choose(bytes, 90);
  if (choice.state != Choice::State::kChosen) return Require(!choice.text.empty());
  const auto& payload = choice.payload;
  Require(payload.architecture <= 90);
  Require(payload.bytes.data() >= bytes.data() &&
          payload.bytes.data() + payload.bytes.size() <= bytes.data() + bytes.size());
  // Unpacking to very many bytes is no fault, but takes long.
  if (payload.unpacked_bytes > 1 << 20) return;
  std::string error;
  Require(simgpu::image::Parse(payload, &error) || !error.empty());
}

simgpu::image::Bytes MadeFatbin() {
  using namespace simgpu::image;
  const std::string ptx = ".version 9.0\n.target sm_75\n.visible .entry k(.param .u64 a)\n{ ret; }\n";
  const Bytes text(ptx.begin(), ptx.end()), cubin = SomeCubin();
  return MakeFatbin(
      {{.architecture = 80, .content = cubin},
       {.content = PackZstd(cubin), .flags = 0x8011, .unpacked = cubin.size()},
       {.architecture = 89, .content = PackLz4(cubin), .flags = 0x2011, .unpacked = cubin.size()},
       {.kind = 1, .architecture = 75, .content = text}});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Check({data, size});
  crossover::fuzz::Bytes input(data, size);
  simgpu::image::Bytes made = MadeFatbin();
  while (!input.empty()) {
    const std::size_t at = input.Next<std::uint16_t>() % made.size();
    input.Take(made.data() + at, std::min<std::size_t>(1 + input.NextByte() % 8, made.size() - at));
    Check(made);
  }
  return 0;
}
