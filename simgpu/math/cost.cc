#include "simgpu/math/cost.h"

#include <algorithm>
#include <cmath>

namespace simgpu::math {

namespace {

constexpr std::uint64_t kStartNs = 2000;
constexpr std::uint64_t kTile = 128;     // rows and columns of the result that one SM computes at a time
constexpr std::uint64_t kSlice = 256;    // the shortest part of k that an SM takes if tiles are few
constexpr double kReferenceSms = 132;    // of the GPU that the rates below are of
constexpr double kBytesPerNs = 2500;     // of memory, each direction
constexpr double kTrafficPerSm = 65536;  // bytes for which another SM is worth its while

// Returns operations in a nanosecond on kReferenceSms SMs.
double RateOf(Precision precision) {
  switch (precision) {
    case Precision::kDouble:
      return 40e3;
    case Precision::kSingle:
      return 40e3;
    case Precision::kTensorFloat:
      return 250e3;
    case Precision::kHalf:
      return 550e3;
    case Precision::kByte:
      return 1100e3;
  }
  return 40e3;
}

double Ceil(std::uint64_t value, std::uint64_t step) {
  return std::ceil(static_cast<double>(value) / static_cast<double>(step));
}

int Clamp(double sms, int most) { return static_cast<int>(std::clamp(sms, 1.0, static_cast<double>(most))); }

Cost After(double ns, int sms) { return {kStartNs + static_cast<std::uint64_t>(std::min(ns, 1e18)), sms}; }

}  // namespace

Cost CostOfProduct(const MatrixShape& shape, Precision precision, int sms) {
  const double tiles = Ceil(shape.m, kTile) * Ceil(shape.n, kTile) * static_cast<double>(shape.batch);
  const double slices = std::clamp(sms / std::max(tiles, 1.0), 1.0, std::max(Ceil(shape.k, kSlice), 1.0));
  const int filled = Clamp(tiles * std::floor(slices), sms);
  const double operations = 2.0 * static_cast<double>(shape.m) * static_cast<double>(shape.n) *
                            static_cast<double>(shape.k) * static_cast<double>(shape.batch);
  return After(operations / (RateOf(precision) / kReferenceSms * filled), filled);
}

Cost CostOfTraffic(std::uint64_t bytes, int sms) {
  const int filled = Clamp(std::ceil(static_cast<double>(bytes) / kTrafficPerSm), sms);
  return After(static_cast<double>(bytes) / (kBytesPerNs / kReferenceSms * filled), filled);
}

}  // namespace simgpu::math
