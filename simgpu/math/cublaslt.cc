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
// cublasLtMatmulDescAttributes_t, those that the cost depends on
enum class ProductAttribute : int { kComputeType = 0, kScaleType = 1, kPointerMode = 2, kTransposeA = 3 };

struct Layout {
  int type = 0;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int32_t batch = 1;
};

struct ProductDescription {
  int compute_type = 0;
  int transpose_a = 0;
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

// Reads an attribute into `value`. Its size must be that of the attribute.
template <typename Value>
int Read(const void* buffer, std::size_t bytes, Value* value) {
  if (buffer == nullptr || bytes != sizeof(Value)) return kCublasInvalidValue;
  std::memcpy(value, buffer, bytes);
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
                                                std::uint64_t columns, std::int64_t) {
  return Create(layout, Layout{type, rows, columns, 1});
}

SIMGPU_MATH_CALL int cublasLtMatrixLayoutDestroy(Layout* layout) { return Destroy(layout); }

SIMGPU_MATH_CALL int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* buffer,
                                                      std::size_t bytes) {
  if (layout == nullptr) return kCublasInvalidValue;
  switch (static_cast<LayoutAttribute>(attribute)) {
    case LayoutAttribute::kType:
      return Read(buffer, bytes, &layout->type);
    case LayoutAttribute::kRows:
      return Read(buffer, bytes, &layout->rows);
    case LayoutAttribute::kColumns:
      return Read(buffer, bytes, &layout->columns);
    case LayoutAttribute::kBatch:
      return Read(buffer, bytes, &layout->batch);
    case LayoutAttribute::kOrder:  // the cost depends on none of these
    case LayoutAttribute::kLeading:
    case LayoutAttribute::kStride:
    case LayoutAttribute::kPlane:
      return buffer != nullptr ? kCublasSuccess : kCublasInvalidValue;
  }
  return kCublasInvalidValue;
}

SIMGPU_MATH_CALL int cublasLtMatmulDescCreate(ProductDescription** description, int compute_type, int) {
  return Create(description, ProductDescription{compute_type, 0});
}

SIMGPU_MATH_CALL int cublasLtMatmulDescDestroy(ProductDescription* description) {
  return Destroy(description);
}

// Attributes that say how the product is computed, or what is added to it (a bias, an activation, scales),
// change neither its kernel nor its cost here.
SIMGPU_MATH_CALL int cublasLtMatmulDescSetAttribute(ProductDescription* description, int attribute,
                                                    const void* buffer, std::size_t bytes) {
  if (description == nullptr || buffer == nullptr) return kCublasInvalidValue;
  switch (static_cast<ProductAttribute>(attribute)) {
    case ProductAttribute::kComputeType:
      return Read(buffer, bytes, &description->compute_type);
    case ProductAttribute::kTransposeA:
      return Read(buffer, bytes, &description->transpose_a);
    default:
      return kCublasSuccess;
  }
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
  const std::uint64_t k = description->transpose_a == 0 ? a->columns : a->rows;
  return LaunchProduct(stream, 0, {d->rows, d->columns, k, static_cast<std::uint64_t>(std::max(d->batch, 0))},
                       PrecisionOf(a->type, description->compute_type));
}
