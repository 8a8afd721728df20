// Finds the image for one GPU in the bytes that a program gives the driver: a fat binary, with images for
// several architectures, each of them packed or not; or one image alone. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/image/image.h"
#include "simgpu/image/view.h"

namespace simgpu::image {

enum class Form { kCubin, kPtx };
enum class Packing { kNone, kLz4, kZstd };

// A Payload is one image as it lies in the bytes that hold it.
struct Payload {
  Form form = Form::kCubin;
  Packing packing = Packing::kNone;
  int architecture = 0;
  View bytes;
  std::uint64_t unpacked_bytes = 0;
};

// A Choice is what Choose() found: an image for the GPU; or none for it among images that can be read; or
// bytes that are no image of a known form; or an image that is malformed. `text` says what is wrong, in one
// line.
struct Choice {
  enum class State { kChosen, kNoneFits, kUnknownForm, kMalformed };
  State state = State::kUnknownForm;
  Payload payload;  // lies in the bytes
  std::string text;
};

// The wrapper of a fat binary, which compilers put into programs, and the fat binary itself begin with these.
constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatbinMagic = 0xba55ed50;

// A Wrapper refers to a fat binary in the memory of the same process.
struct Wrapper {
  std::uint32_t magic;
  std::uint32_t version;
  const std::uint8_t* fatbin;
  void* more;
};

// Returns which image a GPU of `architecture` (90 for compute capability 9.0) runs, or why it runs none.
// Machine code comes first, as a driver does it: that of the same major number and the greatest minor number
// up to the GPU's. Then comes PTX, of the greatest architecture up to the GPU's. Does not unpack anything.
// `bytes` may go on behind the end of the image.
Choice Choose(View bytes, int architecture);

// Parse() unpacks an image and reads it. It returns no value, and puts one line in *error, if the image is
// malformed.
std::optional<Image> Parse(const Payload& payload, std::string* error);

}  // namespace simgpu::image
