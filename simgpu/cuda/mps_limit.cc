#include "simgpu/cuda/mps_limit.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#include "simgpu/mps/protocol.h"

namespace simgpu {

double ActiveThreadPercentage(const char* text, double daemon, std::string* complaint) {
  if (text == nullptr) return daemon;
  double value = 0;
  const char* const end = text + std::strlen(text);
  const auto [last, problem] = std::from_chars(text, end, value);
  if (problem == std::errc() && last == end && value > 0 && value <= 100) return std::min(value, daemon);
  *complaint = std::string("environment: ") + mps::kActiveThreadVariable + "=" + text +
               ": expected a number above 0 and up to 100; the variable is ignored";
  return daemon;
}

double SmsOfPercentage(double percentage, int gpu_sms) {
  return std::max(1.0, std::floor(percentage * gpu_sms / 100));
}

}  // namespace simgpu
