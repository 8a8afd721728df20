// Keeps an image that is read when it is first needed: a program holds hundreds of them and uses few.
// Thread-safe.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "simgpu/image/fatbin.h"

namespace simgpu::image {

// Chooses an image for the GPU in the memory at `image`, as Choose() does. That may also be a wrapper.
// REQUIRES: the memory holds all that the headers in it say.
Choice ChooseAt(const void* image, int architecture);

class LazyImage {
 public:
  // Takes an image. Unless `preserved` says that its bytes stay where they are, copies them as they are,
  // packed.
  LazyImage(const Payload& payload, bool preserved);
  LazyImage(const LazyImage&) = delete;
  LazyImage& operator=(const LazyImage&) = delete;

  // Reads the image at the first call, and returns it. If it is malformed, returns null at each call, and
  // puts one line in *error.
  const Image* Get(std::string* error);

 private:
  std::mutex mutex_;
  std::vector<std::uint8_t> own_;
  Payload payload_;
  bool read_ = false;
  std::optional<Image> image_;
  std::string error_;
};

}  // namespace simgpu::image
