// Implements cuBLASLt: descriptors, one algorithm, and the product, which is one kernel.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

#include "simgpu/math/cublas.h"
#include "simgpu/math/export.h"
#include "simgpu/math/launch.h"
#include "simgpu/math/product.h"
#include "simgpu/stand_ins/refuse.h"

using namespace simgpu::math;

namespace {

constexpr std::size_t kVersion = 130401;  // of the library that it stands in for
constexpr const char* kLibrary = "libcublasLt.so.13";

// cublasLtMatrixLayoutAttribute_t
enum class LayoutAttribute : int { kType = 0, kOrder, kRows, kColumns, kLeading, kBatch, kStride, kPlane };
// cublasLtMatmulDescAttributes_t, those that the cost depends on, or that are not 0 at first
enum class ProductAttribute : int {
  kComputeType = 0,
  kScaleType = 1,
  kPointerMode = 2,
  kTransposeA = 3,
  kEpilogue = 7
};
constexpr std::uint64_t kNoEpilogue = 1;

// Attributes hold what a program set, by number: each is a number or a pointer, of 8 bytes at most.
template <std::size_t kCount>
class Attributes {
 public:
  std::uint64_t& operator[](std::size_t attribute) { return values_[attribute]; }
  std::uint64_t operator[](std::size_t attribute) const { return values_[attribute]; }

  int Set(int attribute, const void* buffer, std::size_t bytes) {
    if (!Has(attribute) || buffer == nullptr || !IsSize(bytes)) return kCublasInvalidValue;
    std::uint64_t value = 0;
    std::memcpy(&value, buffer, bytes);
    values_[static_cast<std::size_t>(attribute)] = value;
    return kCublasSuccess;
  }
  // Writes the value, and its size if `written` is not null.
  int Get(int attribute, void* buffer, std::size_t bytes, std::size_t* written) const {
    if (!Has(attribute) || buffer == nullptr || !IsSize(bytes)) return kCublasInvalidValue;
    std::memcpy(buffer, &values_[static_cast<std::size_t>(attribute)], bytes);
    if (written != nullptr) *written = bytes;
    return kCublasSuccess;
  }

 private:
  static bool Has(int attribute) { return attribute >= 0 && static_cast<std::size_t>(attribute) < kCount; }
  static bool IsSize(std::size_t bytes) { return bytes >= 1 && bytes <= sizeof(std::uint64_t); }

  std::uint64_t values_[kCount] = {};
};

struct Layout {
  static constexpr std::size_t kAttributes = 8;

  std::uint64_t Of(LayoutAttribute attribute) const { return values[static_cast<std::size_t>(attribute)]; }

  Attributes<kAttributes> values;
};

struct ProductDescription {
  static constexpr std::size_t kAttributes = 64;

  std::uint64_t Of(ProductAttribute attribute) const { return values[static_cast<std::size_t>(attribute)]; }

  Attributes<kAttributes> values;
};

struct Preference {};

// These are cublasLtMatmulAlgo_t and cublasLtMatmulHeuristicResult_t.
struct Algorithm {
  std::uint64_t data[8];
};
struct HeuristicResult {
  Algorithm algorithm;
  std::size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(HeuristicResult) == 96);

constexpr std::uint64_t kOnlyAlgorithm = 1;

template <typename Object>
int Create(Object** object, const Object& value) {
  if (object == nullptr) return kCublasInvalidValue;
  *object = new (std::nothrow) Object(value);
  return *object != nullptr ? kCublasSuccess : kCublasAllocationFailed;
}

template <typename Object>
int Destroy(Object* object) {
  delete object;
  return kCublasSuccess;
}

int Refused(const char* name) {
  simgpu_refuse(kLibrary, name, "the stand-in has one algorithm without settings");
  return kCublasNotSupported;
}

}  // namespace

SIMGPU_MATH_CALL std::size_t cublasLtGetVersion() { return kVersion; }

SIMGPU_MATH_CALL int cublasLtCreate(CublasHandle** handle) {
  if (handle == nullptr) return kCublasInvalidValue;
  return UseContext() ? Create(handle, CublasHandle{}) : kCublasNotInitialized;
}

SIMGPU_MATH_CALL int cublasLtDestroy(CublasHandle* handle) { return Destroy(handle); }

SIMGPU_MATH_CALL int cublasLtMatrixLayoutCreate(Layout** layout, int type, std::uint64_t rows,
                                                std::uint64_t columns, std::int64_t leading) {
  Layout made;
  const auto set = [&made](LayoutAttribute attribute, std::uint64_t value) {
    made.values[static_cast<std::size_t>(attribute)] = value;
  };
  set(LayoutAttribute::kType, static_cast<std::uint64_t>(type));
  set(LayoutAttribute::kRows, rows);
  set(LayoutAttribute::kColumns, columns);
  set(LayoutAttribute::kLeading, static_cast<std::uint64_t>(leading));
  set(LayoutAttribute::kBatch, 1);
  return Create(layout, made);
}

SIMGPU_MATH_CALL int cublasLtMatrixLayoutDestroy(Layout* layout) { return Destroy(layout); }

SIMGPU_MATH_CALL int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* buffer,
                                                      std::size_t bytes) {
  return layout != nullptr ? layout->values.Set(attribute, buffer, bytes) : kCublasInvalidValue;
}

SIMGPU_MATH_CALL int cublasLtMatrixLayoutGetAttribute(const Layout* layout, int attribute, void* buffer,
                                                      std::size_t bytes, std::size_t* written) {
  return layout != nullptr ? layout->values.Get(attribute, buffer, bytes, written) : kCublasInvalidValue;
}

SIMGPU_MATH_CALL int cublasLtMatmulDescCreate(ProductDescription** description, int compute_type,
                                              int scale_type) {
  ProductDescription made;
  const auto set = [&made](ProductAttribute attribute, std::uint64_t value) {
    made.values[static_cast<std::size_t>(attribute)] = value;
  };
  set(ProductAttribute::kComputeType, static_cast<std::uint64_t>(compute_type));
  set(ProductAttribute::kScaleType, static_cast<std::uint64_t>(scale_type));
  set(ProductAttribute::kEpilogue, kNoEpilogue);
  return Create(description, made);
}

SIMGPU_MATH_CALL int cublasLtMatmulDescDestroy(ProductDescription* description) {
  return Destroy(description);
}

// Attributes that say how the product is computed, or what is added to it (a bias, an activation, scales),
// change neither its kernel nor its cost here.
SIMGPU_MATH_CALL int cublasLtMatmulDescSetAttribute(ProductDescription* description, int attribute,
                                                    const void* buffer, std::size_t bytes) {
  return description != nullptr ? description->values.Set(attribute, buffer, bytes) : kCublasInvalidValue;
}

SIMGPU_MATH_CALL int cublasLtMatmulDescGetAttribute(const ProductDescription* description, int attribute,
                                                    void* buffer, std::size_t bytes, std::size_t* written) {
  return description != nullptr ? description->values.Get(attribute, buffer, bytes, written)
                                : kCublasInvalidValue;
}

SIMGPU_MATH_CALL int cublasLtMatmulPreferenceCreate(Preference** preference) {
  return Create(preference, Preference{});
}

SIMGPU_MATH_CALL int cublasLtMatmulPreferenceDestroy(Preference* preference) { return Destroy(preference); }

// The one algorithm needs no workspace and takes every alignment, so that every preference is met.
SIMGPU_MATH_CALL int cublasLtMatmulPreferenceSetAttribute(Preference* preference, int, const void* buffer,
                                                          std::size_t) {
  return preference != nullptr && buffer != nullptr ? kCublasSuccess : kCublasInvalidValue;
}

SIMGPU_MATH_CALL int cublasLtMatmulAlgoGetHeuristic(const void*, const ProductDescription* description,
                                                    const Layout* a, const Layout* b, const Layout* c,
                                                    const Layout* d, const Preference*, int wanted,
                                                    HeuristicResult* results, int* found) {
  if (description == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr) {
    return kCublasInvalidValue;
  }
  if (wanted < 1 || results == nullptr || found == nullptr) return kCublasInvalidValue;
  results[0] = HeuristicResult{{{kOnlyAlgorithm}}, 0, kCublasSuccess, 1.0F, {}};
  *found = 1;
  return kCublasSuccess;
}

SIMGPU_MATH_CALL int cublasLtMatmulAlgoCheck(const void*, const ProductDescription*, const Layout*,
                                             const Layout*, const Layout*, const Layout*,
                                             const Algorithm* algorithm, HeuristicResult* result) {
  if (algorithm == nullptr || result == nullptr) return kCublasInvalidValue;
  *result = HeuristicResult{*algorithm, 0, kCublasSuccess, 1.0F, {}};
  return kCublasSuccess;
}

SIMGPU_MATH_CALL int cublasLtMatmulAlgoInit(const void*, int, int, int, int, int, int, int, Algorithm*) {
  return Refused("cublasLtMatmulAlgoInit");
}

SIMGPU_MATH_CALL int cublasLtMatmulAlgoConfigSetAttribute(Algorithm*, int, const void*, std::size_t) {
  return Refused("cublasLtMatmulAlgoConfigSetAttribute");
}

SIMGPU_MATH_CALL int cublasLtMatmulAlgoConfigGetAttribute(const Algorithm*, int, void*, std::size_t,
                                                          std::size_t*) {
  return Refused("cublasLtMatmulAlgoConfigGetAttribute");
}

SIMGPU_MATH_CALL int cublasLtMatmul(const void* handle, const ProductDescription* description, const void*,
                                    const void*, const Layout* a, const void*, const Layout* b, const void*,
                                    const void*, const Layout* c, void*, const Layout* d, const Algorithm*,
                                    void*, std::size_t, CUstream stream) {
  if (handle == nullptr) return kCublasNotInitialized;
  if (description == nullptr || a == nullptr || b == nullptr || c == nullptr || d == nullptr) {
    return kCublasInvalidValue;
  }
  const bool transposed = description->Of(ProductAttribute::kTransposeA) != 0;
  const std::uint64_t k = a->Of(transposed ? LayoutAttribute::kRows : LayoutAttribute::kColumns);
  const auto batch = static_cast<std::int32_t>(d->Of(LayoutAttribute::kBatch));
  return LaunchProduct(stream, 0,
                       {d->Of(LayoutAttribute::kRows), d->Of(LayoutAttribute::kColumns), k,
                        static_cast<std::uint64_t>(std::max(batch, 0))},
                       PrecisionOf(static_cast<int>(a->Of(LayoutAttribute::kType)),
                                   static_cast<int>(description->Of(ProductAttribute::kComputeType))));
}
