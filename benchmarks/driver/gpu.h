// Opens one GPU with one stream for a benchmark program, and loads the kernels of a text image of the
// software GPU.
#pragma once

#include <cstdint>
#include <string>

#include "benchmarks/driver/driver.h"

namespace crossover::bench {

class Gpu {
 public:
  // Opens the device `ordinal` and loads `image`, a text image. An empty `image` loads nothing.
  Gpu(int ordinal, const std::string& image);

  CUstream stream() const { return stream_; }
  // Returns the kernel of that name in the image.
  CUfunction Kernel(const char* name) const;
  // Launches one thread of `kernel` on the stream, with `parameters`.
  void Launch(CUfunction kernel, void** parameters) const;
  // Blocks until the stream has done all its work.
  void Synchronize() const;
  // Enqueues a host function that writes the time, in ns of the monotonic clock, to `where`. The time is
  // when the stream gets to this point. It does not depend on when a thread of the host is woken. REQUIRES:
  // `where` is valid until then.
  void Stamp(std::int64_t* where) const;
  // Makes `bytes` bytes at `memory` accessible to streams. Returns their device address.
  static CUdeviceptr Register(void* memory, std::size_t bytes);

 private:
  CUstream stream_ = nullptr;
  CUmodule module_ = nullptr;
};

}  // namespace crossover::bench
