#include "shrink/library/image.h"

#include <stdio.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>

// It is in image_entry.S.
extern "C" const char crossover_shrink_image[];

namespace crossover::shrink::library {
namespace {

constexpr std::size_t kMost = std::size_t{16} << 20;
constinit std::atomic<const char*> kept{nullptr};

// Returns the bytes of the file and a zero behind them, or null.
char* Read(const char* path) {
  std::FILE* file = std::fopen(path, "re");
  if (file == nullptr) return nullptr;
  char* bytes = nullptr;
  long size = -1;
  if (std::fseek(file, 0, SEEK_END) == 0) size = std::ftell(file);
  if (size > 0 && static_cast<std::size_t>(size) <= kMost && std::fseek(file, 0, SEEK_SET) == 0)
    bytes = static_cast<char*>(std::malloc(static_cast<std::size_t>(size) + 1));
  if (bytes != nullptr && std::fread(bytes, static_cast<std::size_t>(size), 1, file) == 1) {
    bytes[size] = '\0';
  } else {
    std::free(bytes);
    bytes = nullptr;
  }
  std::fclose(file);
  return bytes;
}

}  // namespace

const void* ImageOf(const char* path, vote::Reason* reason) {
  if (path == nullptr) return crossover_shrink_image;
  const char* there = kept.load(std::memory_order_acquire);
  if (there != nullptr) return there;
  char* fresh = Read(path);
  if (fresh == nullptr) {
    *reason = vote::As(
        vote::PlainReason::kSetting,
        vote::MakeReason("CROSSOVER_SHRINK_IMAGE: expected a readable file of 1 byte to 16 MiB, got %.50s",
                         path));
    return nullptr;
  }
  if (kept.compare_exchange_strong(there, fresh, std::memory_order_acq_rel)) return fresh;
  std::free(fresh);
  return there;
}

}  // namespace crossover::shrink::library
