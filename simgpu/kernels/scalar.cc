#include "simgpu/kernels/scalar.h"

#include <cmath>
#include <cstring>
#include <utility>

#include "simgpu/kernels/halves.h"

namespace simgpu {
namespace {

// A Number is an element while it is converted. An integer keeps all of its 64 bits.
struct Number {
  enum class Kind { kSigned, kUnsigned, kReal };
  Kind kind = Kind::kReal;
  std::uint64_t bits = 0;  // of an integer
  double real = 0, imaginary = 0;

  double Real() const {
    if (kind == Kind::kSigned) return static_cast<double>(static_cast<std::int64_t>(bits));
    return kind == Kind::kUnsigned ? static_cast<double>(bits) : real;
  }
  // Returns the lowest 64 bits of the integer that is nearest to zero.
  std::uint64_t Whole() const {
    if (kind != Kind::kReal) return bits;
    constexpr double kTop = 9223372036854775808.0;
    if (std::isnan(real)) return 0;
    if (real >= kTop) return real < 2 * kTop ? static_cast<std::uint64_t>(real) : UINT64_MAX;
    return real < -kTop ? std::uint64_t{1} << 63
                        : static_cast<std::uint64_t>(static_cast<std::int64_t>(real));
  }
  bool IsZero() const { return kind == Kind::kReal ? real == 0 && imaginary == 0 : bits == 0; }
};

template <typename T>
T Read(const unsigned char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename T>
void Write(unsigned char* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <typename T>
Number Integer(const unsigned char* from) {
  const T value = Read<T>(from);
  Number number;
  number.kind = std::is_signed_v<T> ? Number::Kind::kSigned : Number::Kind::kUnsigned;
  number.bits = static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  return number;
}

Number RealNumber(double real, double imaginary = 0) { return {Number::Kind::kReal, 0, real, imaginary}; }

Number Load(const unsigned char* from, Scalar type) {
  switch (type) {
    case Scalar::kByte:
      return Integer<std::uint8_t>(from);
    case Scalar::kChar:
      return Integer<std::int8_t>(from);
    case Scalar::kShort:
      return Integer<std::int16_t>(from);
    case Scalar::kInt:
      return Integer<std::int32_t>(from);
    case Scalar::kLong:
      return Integer<std::int64_t>(from);
    case Scalar::kUInt16:
      return Integer<std::uint16_t>(from);
    case Scalar::kUInt32:
      return Integer<std::uint32_t>(from);
    case Scalar::kUInt64:
      return Integer<std::uint64_t>(from);
    case Scalar::kBool:
      return {Number::Kind::kUnsigned, *from != 0 ? 1u : 0u, 0, 0};
    case Scalar::kHalf:
      return RealNumber(HalfToFloat(Read<std::uint16_t>(from)));
    case Scalar::kBFloat16:
      return RealNumber(BfloatToFloat(Read<std::uint16_t>(from)));
    case Scalar::kFloat:
      return RealNumber(Read<float>(from));
    case Scalar::kDouble:
      return RealNumber(Read<double>(from));
    case Scalar::kComplexFloat:
      return RealNumber(Read<float>(from), Read<float>(from + 4));
    case Scalar::kComplexDouble:
      return RealNumber(Read<double>(from), Read<double>(from + 8));
  }
  return {};
}

void Store(const Number& number, unsigned char* to, Scalar type) {
  switch (type) {
    case Scalar::kByte:
    case Scalar::kChar:
      return Write(to, static_cast<std::uint8_t>(number.Whole()));
    case Scalar::kShort:
    case Scalar::kUInt16:
      return Write(to, static_cast<std::uint16_t>(number.Whole()));
    case Scalar::kInt:
    case Scalar::kUInt32:
      return Write(to, static_cast<std::uint32_t>(number.Whole()));
    case Scalar::kLong:
    case Scalar::kUInt64:
      return Write(to, number.Whole());
    case Scalar::kBool:
      return Write(to, static_cast<std::uint8_t>(number.IsZero() ? 0 : 1));
    case Scalar::kHalf:
      return Write(to, FloatToHalf(static_cast<float>(number.Real())));
    case Scalar::kBFloat16:
      return Write(to, FloatToBfloat(static_cast<float>(number.Real())));
    case Scalar::kFloat:
      return Write(to, static_cast<float>(number.Real()));
    case Scalar::kDouble:
      return Write(to, number.Real());
    case Scalar::kComplexFloat:
      Write(to, static_cast<float>(number.Real()));
      return Write(to + 4, static_cast<float>(number.imaginary));
    case Scalar::kComplexDouble:
      Write(to, number.Real());
      return Write(to + 8, number.imaginary);
  }
}

// The compiler's names of types, as the Itanium ABI mangles them. Longer ones come before those that begin
// them.
constexpr std::pair<std::string_view, Scalar> kMangled[] = {
    {"N3c107complexIfEE", Scalar::kComplexFloat},
    {"N3c107complexIdEE", Scalar::kComplexDouble},
    {"N3c108BFloat16E", Scalar::kBFloat16},
    {"N3c104HalfE", Scalar::kHalf},
    {"a", Scalar::kChar},
    {"b", Scalar::kBool},
    {"d", Scalar::kDouble},
    {"f", Scalar::kFloat},
    {"h", Scalar::kByte},
    {"i", Scalar::kInt},
    {"j", Scalar::kUInt32},
    {"l", Scalar::kLong},
    {"m", Scalar::kUInt64},
    {"s", Scalar::kShort},
    {"t", Scalar::kUInt16},
};

}  // namespace

std::size_t BytesOf(Scalar type) {
  switch (type) {
    case Scalar::kByte:
    case Scalar::kChar:
    case Scalar::kBool:
      return 1;
    case Scalar::kShort:
    case Scalar::kUInt16:
    case Scalar::kHalf:
    case Scalar::kBFloat16:
      return 2;
    case Scalar::kInt:
    case Scalar::kUInt32:
    case Scalar::kFloat:
      return 4;
    case Scalar::kLong:
    case Scalar::kUInt64:
    case Scalar::kDouble:
    case Scalar::kComplexFloat:
      return 8;
    case Scalar::kComplexDouble:
      return 16;
  }
  return 0;
}

std::optional<Scalar> TakeMangledScalar(std::string_view* name) {
  for (const auto& [text, type] : kMangled) {
    if (name->substr(0, text.size()) != text) continue;
    name->remove_prefix(text.size());
    return type;
  }
  return std::nullopt;
}

void Convert(const void* from, Scalar from_type, void* to, Scalar to_type, std::size_t count) {
  const std::size_t from_bytes = BytesOf(from_type), to_bytes = BytesOf(to_type);
  const auto* source = static_cast<const unsigned char*>(from);
  auto* target = static_cast<unsigned char*>(to);
  if (from_type == to_type) {
    std::memmove(target, source, count * to_bytes);
    return;
  }
  for (std::size_t i = 0; i < count; ++i) {
    Store(Load(source + i * from_bytes, from_type), target + i * to_bytes, to_type);
  }
}

}  // namespace simgpu
