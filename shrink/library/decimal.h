// Writes numbers as printf's %.3e does in the locale "C", whatever the locale of the process is. Allocates
// nothing.
#pragma once

#include <cstdio>

namespace crossover::shrink::library {

struct Decimal {
  char text[48];
};

// Returns a number as 1.234e-05, or `infinite` in place of one that is not finite. REQUIRES: `value` is not
// negative.
inline Decimal DecimalOf(double value, const char* infinite) {
  Decimal decimal;
  int exponent = 0;
  if (!(value <= 1e300)) {
    std::snprintf(decimal.text, sizeof decimal.text, "%s", infinite);
    return decimal;
  }
  for (; value >= 10; value /= 10) ++exponent;
  for (; value > 0 && value < 1; value *= 10) --exponent;
  int digits = static_cast<int>(value * 1000 + 0.5);
  if (digits == 10'000) {
    digits = 1000;
    ++exponent;
  }
  std::snprintf(decimal.text, sizeof decimal.text, "%d.%03de%c%02d", digits / 1000, digits % 1000,
                exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
  return decimal;
}

inline Decimal InWords(double value) { return DecimalOf(value, "infinite"); }
inline Decimal InJson(double value) { return DecimalOf(value, "null"); }

}  // namespace crossover::shrink::library
