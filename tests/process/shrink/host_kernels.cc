// Has the kernels of shrink/kernels/kernels.cu as functions of the host, from the same source. The software
// GPU runs them for the kernels of host_kernels.image, whose parameters they get. It finds them by name, so
// this is a library of its own that is preloaded.
#include <cstring>

#include "shrink/codec/bf16.h"

namespace {

template <typename T>
T Read(const void* argument) {
  T value;
  std::memcpy(&value, argument, sizeof value);
  return value;
}

}  // namespace

extern "C" {

void shrink_host_narrow(void* const* args) {
  crossover::shrink::Narrow(Read<const float*>(args[0]), Read<unsigned long long>(args[2]),
                            Read<uint16_t*>(args[1]));
}

void shrink_host_widen(void* const* args) {
  crossover::shrink::Widen(Read<const uint16_t*>(args[0]), Read<unsigned long long>(args[2]),
                           Read<float*>(args[1]));
}
}
