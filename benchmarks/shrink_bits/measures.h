// Measures what a codec does to values: its bias, its error, and elements that do not come back as they have
// to. Each function returns one number, and less is better. Pure.
#pragma once

#include "benchmarks/shrink_bits/codecs.h"

namespace crossover::shrink_bits {

// Returns the largest difference between a value and the mean of its 2,000 encodings, in steps: of 512
// normal values, with 1, 2, 4 and 8 bits.
double Bias(Codec codec);

// Returns the largest part by which the relative squared error is off the table of record 0071, of normal and
// Laplace values with 4 and 8 bits.
double OffTable(Codec codec);

// Returns the largest mean squared error of a bucket, as a part of B u^2 / 4.
double OverBound(Codec codec);

// Returns the largest part by which the mean squared error of smooth data is off u^2 / 6.
double OffSixth(Codec codec);

// Returns the relative squared error of 65,535 normal values beside one of 1000, without this one.
double BesideOutlier(Codec codec);

// These return numbers of elements.

// Counts those whose code of 2^n x is not 2^n times that of x.
double Unscaled(Codec codec);
// Counts those that come back as a number though their bucket has something not finite, and those of other
// buckets that do not come back as a number.
double FiniteAmiss(Codec codec);
// Counts those of constant buckets, and of ranges of few subnormal units, that come back with other bits.
double ConstantChanged(Codec codec);
// Counts those that are more than a step away, over counts around every limit, 1 to 8 bits and six sizes of
// buckets.
double BeyondStep(Codec codec);
// Counts those that come back with other bits than by the codec that ships, with 8 bits in buckets of 512.
double OtherBits(Codec codec);

}  // namespace crossover::shrink_bits
