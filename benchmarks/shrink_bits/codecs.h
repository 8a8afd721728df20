// Has the codec with levels that ships, the threads of a GPU that do the same, and codecs that are known to
// be bad, all in one form, so that one measure judges them all. Pure.
#pragma once

#include "shrink/codec/q8.h"
#include "tests/unit/shrink/codec/samples.h"

namespace crossover::shrink_bits {

using shrink::Draw;
using shrink::Floats;
using shrink::Format;

// A Codec returns what values become by encoding and decoding. It throws where the format is not valid.
using Codec = Floats (*)(const Floats& values, const Format& format, const Draw& draw);

Floats Shipped(const Floats& values, const Format& format, const Draw& draw);
// Does what the threads of a GPU do, on the host. REQUIRES: `format` is the kernels', kQ8.
Floats ByThreads(const Floats& values, const Format& format, const Draw& draw);

// These are known to be bad.
Floats Nearest(const Floats& values, const Format& format, const Draw& draw);  // rounds to the nearest level
Floats SameNumbers(const Floats& values, const Format& format, const Draw& draw);  // in each call
Floats OneBitLess(const Floats& values, const Format& format, const Draw& draw);
Floats OneBucket(const Floats& values, const Format& format, const Draw& draw);     // for all values
Floats SmallestStep(const Floats& values, const Format& format, const Draw& draw);  // of 1e-10
// Finds bounds by fmin() and fmax(), which leave NaN out, and takes the quotient of their difference and the
// highest level as the step, also where it is 0.
Floats PlainBounds(const Floats& values, const Format& format, const Draw& draw);
Floats LeavesRestOut(const Floats& values, const Format& format, const Draw& draw);  // behind whole buckets

}  // namespace crossover::shrink_bits
