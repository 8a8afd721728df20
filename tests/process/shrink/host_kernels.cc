// Has the kernels of shrink/kernels/kernels.cu as functions of the host, from the same source. The software
// GPU runs them for the kernels of host_kernels.image, whose parameters they get. It finds them by name, so
// this is a library of its own that is preloaded. Other images name kernels that are known to be bad.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "shrink/codec/bf16.h"
#include "shrink/kernels/q8_threads.h"

namespace {

namespace shrink = crossover::shrink;

// An Argument is what the image's line says of it: all have 8 bytes.
struct Argument {
  const void* at;
  template <typename T>
  operator T() const {
    static_assert(sizeof(T) == 8);
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
};

std::vector<float> kept;  // only the known-bad kernels use these two
float* kept_at = nullptr;

std::vector<float> FiniteOf(const float* values, std::uint64_t count) {
  std::vector<float> finite(values, values + count);
  for (float& value : finite) value = std::isfinite(value) ? value : 0;
  return finite;
}

}  // namespace

extern "C" {

void shrink_host_narrow(void* const* args) {
  shrink::Narrow(Argument{args[0]}, Argument{args[2]}, Argument{args[1]});
}

void shrink_host_widen(void* const* args) {
  shrink::Widen(Argument{args[0]}, Argument{args[2]}, Argument{args[1]});
}

void shrink_host_encode(void* const* args) {
  shrink::RunOnHost(shrink::EncodeWork{Argument{args[0]}, Argument{args[1]}, Argument{args[2]},
                                       Argument{args[3]}, Argument{args[4]}, Argument{args[5]},
                                       Argument{args[6]}, Argument{args[7]}});
}

void shrink_host_sum(void* const* args) {
  shrink::RunOnHost(shrink::SumWork{
      Argument{args[0]}, Argument{args[1]}, Argument{args[2]}, Argument{args[3]}, Argument{args[4]},
      Argument{args[5]}, Argument{args[6]}, Argument{args[7]}, Argument{args[8]}, Argument{args[9]}});
}

void shrink_host_decode(void* const* args) {
  shrink::RunOnHost(shrink::DecodeWork{Argument{args[0]}, Argument{args[1]}, Argument{args[2]},
                                       Argument{args[3]}, Argument{args[4]}, Argument{args[5]}});
}

// These two are known to be bad: the owner of a chunk keeps the sum that it has encoded for the others.
void shrink_kept_sum(void* const* args) {
  shrink_host_sum(args);
  kept_at = Argument{args[1]};
  const float* sum = kept_at;
  const std::uint64_t count = Argument{args[5]};
  kept.assign(sum, sum + count);
}

void shrink_kept_decode(void* const* args) {
  shrink_host_decode(args);
  std::copy(kept.begin(), kept.end(), kept_at);
}

// These two are known to be bad: what is not finite is left out, as fmin() and fmax() leave out NaN.
void shrink_finite_encode(void* const* args) {
  const std::vector<float> finite = FiniteOf(Argument{args[0]}, Argument{args[3]});
  const float* values = finite.data();
  void* others[] = {&values, args[1], args[2], args[3], args[4], args[5], args[6], args[7]};
  shrink_host_encode(others);
}

void shrink_finite_sum(void* const* args) {
  const std::vector<float> finite = FiniteOf(Argument{args[0]}, Argument{args[5]});
  const float* own = finite.data();
  void* others[] = {&own, args[1], args[2], args[3], args[4], args[5], args[6], args[7], args[8], args[9]};
  shrink_host_sum(others);
}
}
