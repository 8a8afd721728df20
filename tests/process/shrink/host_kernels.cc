// Has the kernels of shrink/kernels/kernels.cu as functions of the host, from the same source. The software
// GPU runs them for the kernels of host_kernels.image, whose parameters they get. It finds them by name, so
// this is a library of its own that is preloaded. Other images name kernels that are known to be bad.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "shrink/codec/bf16.h"
#include "shrink/kernels/adaptive_threads.h"
#include "shrink/kernels/error_threads.h"
#include "shrink/kernels/q8_threads.h"
#include "shrink/library/plan.h"

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

using shrink::PlannedBits;

PlannedBits PlanOf(void* const* args) { return {Argument{args[0]}, Argument{args[1]}, Argument{args[2]}}; }

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

void shrink_host_error(void* const* args) {
  shrink::ErrorPart* parts = Argument{args[1]};
  shrink::MeasureOnHost(shrink::ErrorWork{Argument{args[0]}, Argument{args[2]}, Argument{args[3]}}, parts);
  for (unsigned block = 0; block < shrink::kErrorBlocks; ++block)
    __atomic_store_n(&parts[block].mark, std::uint64_t{Argument{args[4]}}, __ATOMIC_RELEASE);
}

// This one is known to be bad: its error of bf16 is that of a codec that rounds away from zero.
void shrink_away_error(void* const* args) {
  const float* values = Argument{args[0]};
  const std::uint64_t count = Argument{args[2]};
  double error = 0;
  for (std::uint64_t i = shrink::kQ8.bucket; i < count; ++i)
    error +=
        shrink::SquaredError(shrink::FloatOf((shrink::BitsOf(values[i]) + 0xffff) & 0xffff0000), values[i]);
  shrink::ErrorPart* parts = Argument{args[1]};
  shrink::MeasureOnHost(shrink::ErrorWork{values, count, Argument{args[3]}}, parts);
  for (unsigned block = 0; block < shrink::kErrorBlocks; ++block) {
    parts[block].sums.bf16 = error / shrink::kErrorBlocks;
    __atomic_store_n(&parts[block].mark, std::uint64_t{Argument{args[4]}}, __ATOMIC_RELEASE);
  }
}

// This one is known to be bad: it never says that it is done.
void shrink_unmarked_error(void* const* args) {
  std::uint64_t none = 0;
  void* others[] = {args[0], args[1], args[2], args[3], &none};
  shrink_host_error(others);
}

void shrink_host_encode_planned(void* const* args) {
  shrink::RunOnHost(shrink::EncodeWorkOf<PlannedBits>{
      Argument{args[0]}, Argument{args[1]}, Argument{args[2]}, Argument{args[3]}, Argument{args[4]},
      Argument{args[5]}, Argument{args[6]}, Argument{args[7]}, PlanOf(args + 8)});
}

void shrink_host_sum_planned(void* const* args) {
  shrink::RunOnHost(shrink::SumWorkOf<PlannedBits>{Argument{args[0]}, Argument{args[1]}, Argument{args[2]},
                                                   Argument{args[3]}, Argument{args[4]}, Argument{args[5]},
                                                   Argument{args[6]}, Argument{args[7]}, Argument{args[8]},
                                                   Argument{args[9]}, PlanOf(args + 10)});
}

void shrink_host_decode_planned(void* const* args) {
  shrink::RunOnHost(shrink::DecodeWorkOf<PlannedBits>{Argument{args[0]}, Argument{args[1]}, Argument{args[2]},
                                                      Argument{args[3]}, Argument{args[4]}, Argument{args[5]},
                                                      PlanOf(args + 6)});
}

void shrink_host_statistics(void* const* args) {
  shrink::RunOnHost(shrink::StatisticsWork{Argument{args[0]}, Argument{args[1]}, Argument{args[2]},
                                           Argument{args[3]}, Argument{args[4]}, Argument{args[5]},
                                           Argument{args[6]}, Argument{args[7]}, PlanOf(args + 8)});
}

// These two are known to be bad on the ranks that have SHRINK_TEST_LIES: an owner says other errors than
// those of its chunk, or a rank hears other errors than were said.
void shrink_lies_statistics(void* const* args) {
  shrink_host_statistics(args);
  double* said = Argument{args[3]};
  if (said != nullptr && std::getenv("SHRINK_TEST_LIES") != nullptr) *said *= 1000;
}

void shrink_mishears_decode(void* const* args) {
  shrink_host_decode_planned(args);
  const shrink::library::KindMemory* kind = Argument{args[6]};
  if (std::getenv("SHRINK_TEST_LIES") != nullptr) const_cast<double*>(kind->said)[0] *= 1000;
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
