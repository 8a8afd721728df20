#include "simgpu/nccl/arithmetic.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "simgpu/kernels/halves.h"

namespace simgpu::nccl {

namespace {

struct Half {
  std::uint16_t bits;
};
struct Bfloat {
  std::uint16_t bits;
};

// An Element widens a stored element to the type in which it is computed.
template <typename T>
struct Element {
  using Wide = T;
  static Wide Widen(T value) { return value; }
  static T Narrow(Wide value) { return value; }
};
template <>
struct Element<Half> {
  using Wide = float;
  static float Widen(Half value) { return HalfToFloat(value.bits); }
  static Half Narrow(float value) { return {FloatToHalf(value)}; }
};
template <>
struct Element<Bfloat> {
  using Wide = float;
  static float Widen(Bfloat value) { return BfloatToFloat(value.bits); }
  static Bfloat Narrow(float value) { return {FloatToBfloat(value)}; }
};

// Integers wrap as they do on a GPU: they are computed unsigned and at least 32 bits wide.
template <typename T>
T WrappingSum(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
  } else {
    return a + b;
  }
}

template <typename T>
T WrappingProduct(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<std::common_type_t<T, int>>;
    return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
  } else {
    return a * b;
  }
}

template <typename T, typename Operation>
void ForEach(void* into, const void* from, std::size_t count, Operation operation) {
  auto* out = static_cast<unsigned char*>(into);
  const auto* in = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < count; ++i) {
    T a;
    T b;
    std::memcpy(&a, in + i * sizeof(T), sizeof(T));
    std::memcpy(&b, out + i * sizeof(T), sizeof(T));
    const T result = Element<T>::Narrow(operation(Element<T>::Widen(a), Element<T>::Widen(b)));
    std::memcpy(out + i * sizeof(T), &result, sizeof(T));
  }
}

template <typename T>
void FoldAs(void* into, const void* from, std::size_t count, ncclRedOp_t op) {
  using W = typename Element<T>::Wide;
  switch (op) {
    case ncclProd:
      return ForEach<T>(into, from, count, [](W a, W b) { return WrappingProduct(a, b); });
    case ncclMax:
      return ForEach<T>(into, from, count, [](W a, W b) { return std::max(a, b); });
    case ncclMin:
      return ForEach<T>(into, from, count, [](W a, W b) { return std::min(a, b); });
    default:
      return ForEach<T>(into, from, count, [](W a, W b) { return WrappingSum(a, b); });
  }
}

template <typename T>
void DivideAs(void* values, std::size_t count, int ranks) {
  using W = typename Element<T>::Wide;
  ForEach<T>(values, values, count, [ranks](W, W b) { return static_cast<W>(b / static_cast<W>(ranks)); });
}

// Calls `visit` with a value of the C++ type that stands for `type`.
template <typename Visitor>
void WithType(ncclDataType_t type, Visitor visit) {
  switch (type) {
    case ncclInt8:
      return visit(std::int8_t{});
    case ncclUint8:
      return visit(std::uint8_t{});
    case ncclInt32:
      return visit(std::int32_t{});
    case ncclUint32:
      return visit(std::uint32_t{});
    case ncclInt64:
      return visit(std::int64_t{});
    case ncclUint64:
      return visit(std::uint64_t{});
    case ncclFloat16:
      return visit(Half{});
    case ncclFloat32:
      return visit(float{});
    case ncclFloat64:
      return visit(double{});
    case ncclBfloat16:
      return visit(Bfloat{});
    default:
      return;  // the caller must not pass other types
  }
}

}  // namespace

void Fold(void* into, const void* from, std::size_t count, ncclDataType_t type, ncclRedOp_t op) {
  WithType(type, [&](auto zero) { FoldAs<decltype(zero)>(into, from, count, op); });
}

void Divide(void* values, std::size_t count, ncclDataType_t type, int ranks) {
  WithType(type, [&](auto zero) { DivideAs<decltype(zero)>(values, count, ranks); });
}

}  // namespace simgpu::nccl
