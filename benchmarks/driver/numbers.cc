#include "benchmarks/driver/numbers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/base/refusal.h"

namespace crossover::bench {

std::int64_t Quantile(std::vector<std::int64_t> samples, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(samples.size())));
  const auto place = samples.begin() + static_cast<std::ptrdiff_t>(rank == 0 ? 0 : rank - 1);
  std::nth_element(samples.begin(), place, samples.end());
  return *place;
}

std::string SummaryUs(const std::vector<std::int64_t>& samples) {
  if (samples.empty()) return R"({"n": 0})";
  char text[160];
  const auto us = [&](double share) { return static_cast<double>(Quantile(samples, share)) / 1e3; };
  std::snprintf(text, sizeof text, R"({"n": %zu, "p50": %.3f, "p99": %.3f, "max": %.3f})", samples.size(),
                us(0.5), us(0.99), us(1.0));
  return text;
}

std::int64_t Argument(const char* name, const char* text, std::int64_t low, std::int64_t high) {
  std::int64_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error == std::errc() && stop == end && value >= low && value <= high) return value;
  std::fprintf(stderr, "%s: expected a whole number from %lld to %lld, got %s\n", name,
               static_cast<long long>(low), static_cast<long long>(high), text);
  std::exit(2);
}

int RefuseArguments(const char* program, const char* expected, std::span<char* const> got) {
  std::string all;
  for (const char* argument : got) all.append(all.empty() ? "" : " ").append(argument);
  std::fprintf(stderr, "%s\n",
               base::Refusal(program, expected, all.empty() ? "no arguments" : base::Shown(all)).c_str());
  return 2;
}

}  // namespace crossover::bench
