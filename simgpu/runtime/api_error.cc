// Implements the last error, and the names and texts of errors.
#include <algorithm>
#include <iterator>

#include "simgpu/runtime/export.h"
#include "simgpu/runtime/last_error.h"

using namespace simgpu::runtime;

namespace {

struct Text {
  int code;
  const char* text;
};

// The texts that the runtime shares with the driver.
constexpr Text kDriverTexts[] = {
#define ERROR(code, text) {code, text},
#include "simgpu/cuda/errors.def"
#undef ERROR
};

constexpr const char* DriverText(int code) {
  for (const Text& entry : kDriverTexts) {
    if (entry.code == code) return entry.text;
  }
  return nullptr;
}

struct Error {
  cudaError_t code;
  const char* name;
  const char* text;
};

constexpr Error kErrors[] = {
#define NAMED(code) {code, #code, DriverText(code)},
#define WORDED(code, text) {code, #code, text},
#include "simgpu/runtime/errors.def"
#undef NAMED
#undef WORDED
};

constexpr bool AllHaveTexts() {
  for (const Error& error : kErrors) {
    if (error.text == nullptr) return false;
  }
  return true;
}
static_assert(AllHaveTexts());

const Error* Find(cudaError_t code) {
  const auto* found = std::find_if(std::begin(kErrors), std::end(kErrors),
                                   [=](const Error& error) { return error.code == code; });
  return found == std::end(kErrors) ? nullptr : found;
}

}  // namespace

extern "C" {

cudaError_t cudaGetLastError() { return Take(); }

cudaError_t cudaPeekAtLastError() { return Peek(); }

const char* cudaGetErrorName(cudaError_t code) {
  const Error* error = Find(code);
  return error == nullptr ? "unrecognized error code" : error->name;
}

const char* cudaGetErrorString(cudaError_t code) {
  const Error* error = Find(code);
  return error == nullptr ? "unrecognized error code" : error->text;
}

}  // extern "C"
