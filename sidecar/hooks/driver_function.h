// Defines functions of the driver that the hooks themselves call.
#pragma once

#include <atomic>

#include "sidecar/hooks/library.h"

namespace crossover::hooks {

// A DriverFunction looks up a function of the driver when it is first needed. Thread-safe.
template <typename Function>
class DriverFunction {
 public:
  constexpr explicit DriverFunction(const char* name) : name_(name) {}
  // Returns the function, or null if the driver has none. Looks it up once, or at each call while only a stub
  // of the driver is loaded.
  Function Get() {
    if (!looked_.load(std::memory_order_acquire)) {
      bool lasts = true;
      const auto found = reinterpret_cast<Function>(FindSymbol(Library::kCuda, name_, &lasts));
      if (!lasts) return found;
      function_.store(found, std::memory_order_relaxed);
      looked_.store(true, std::memory_order_release);
    }
    return function_.load(std::memory_order_relaxed);
  }

 private:
  const char* const name_;
  std::atomic<Function> function_{nullptr};
  std::atomic<bool> looked_{false};
};

}  // namespace crossover::hooks
