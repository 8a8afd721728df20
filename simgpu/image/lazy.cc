#include "simgpu/image/lazy.h"

#include <cstring>

#include "common/base/refusal.h"

namespace simgpu::image {
namespace {

// Stands for the size of memory whose end nothing says. The headers in it say how far it may be read.
constexpr std::size_t kUnknownSize = PTRDIFF_MAX;

View From(const void* memory) {
  const auto* begin = static_cast<const std::uint8_t*>(memory);
  return {begin, std::min<std::size_t>(kUnknownSize, UINTPTR_MAX - reinterpret_cast<std::uintptr_t>(begin))};
}

}  // namespace

Choice ChooseAt(const void* image, int architecture) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, image, sizeof magic);
  if (magic != kWrapperMagic) return Choose(From(image), architecture);
  Wrapper wrapper;
  std::memcpy(&wrapper, image, sizeof wrapper);
  if (wrapper.version != 1 || wrapper.fatbin == nullptr) {
    return {Choice::State::kMalformed,
            {},
            crossover::base::Refusal("wrapper of a fat binary", "version 1 and a fat binary",
                                     "version " + std::to_string(wrapper.version))};
  }
  return Choose(From(wrapper.fatbin), architecture);
}

LazyImage::LazyImage(const Payload& payload, bool preserved) : payload_(payload) {
  if (preserved) return;
  own_.assign(payload.bytes.begin(), payload.bytes.end());
  payload_.bytes = own_;
}

const Image* LazyImage::Get(std::string* error) {
  const std::lock_guard lock(mutex_);
  if (!read_) {
    read_ = true;
    image_ = Parse(payload_, &error_);
    own_ = {};  // all that is needed of the bytes is in the image
  }
  if (image_) return &*image_;
  *error = error_;
  return nullptr;
}

}  // namespace simgpu::image
