// Divides a buffer among ranks, in whole buckets. Freestanding (float_bits.h).
#pragma once

#include <stddef.h>

namespace crossover::shrink {

// Parts has the elements from Begin(p) to Begin(p + 1) as part p. All parts but the last ones have `length`
// elements. The last parts may be shorter, or empty.
struct Parts {
  size_t count = 0;
  size_t length = 0;

  constexpr size_t Begin(size_t part) const {
    return length > 0 && part <= count / length ? part * length : count;
  }
  constexpr size_t Size(size_t part) const { return Begin(part + 1) - Begin(part); }
};

// Returns `parts` parts of `count` elements. Their length is a multiple of `bucket`.
constexpr Parts PartsOf(size_t count, size_t parts, size_t bucket) {
  const size_t buckets = count / bucket + (count % bucket > 0 ? 1 : 0);
  return {count, (buckets / parts + (buckets % parts > 0 ? 1 : 0)) * bucket};
}

}  // namespace crossover::shrink
