// Prints how far a codec of shrink is from what it has to be, and how far codecs are that are known to be
// bad, as a line of JSON: shrink_bits CASE.
#include <cstdio>
#include <cstring>
#include <vector>

#include "benchmarks/shrink_bits/measures.h"
#include "benchmarks/shrink_bits/sums.h"
#include "shrink/codec/bf16.h"

namespace {

using namespace crossover::shrink_bits;

struct Bad {
  const char* what;
  double (*measure)();
};

struct Case {
  const char* name;
  double (*measure)();
  std::vector<Bad> bad;
};

const std::vector<Case>& Cases() {
  static const std::vector<Case> cases = {
      {"bias",
       [] { return Bias(Shipped); },
       {{"rounding to the nearest level", [] { return Bias(Nearest); }},
        {"the same random numbers in each call", [] { return Bias(SameNumbers); }}}},
      {"error", [] { return OffTable(Shipped); }, {{"a bit less", [] { return OffTable(OneBitLess); }}}},
      {"bound", [] { return OverBound(Shipped); }, {{"a bit less", [] { return OverBound(OneBitLess); }}}},
      {"sixth",
       [] { return OffSixth(Shipped); },
       {{"rounding to the nearest level", [] { return OffSixth(Nearest); }}}},
      {"outlier",
       [] { return BesideOutlier(Shipped); },
       {{"one bucket for all values", [] { return BesideOutlier(OneBucket); }}}},
      {"scale",
       [] { return Unscaled(Shipped); },
       {{"a smallest step of 1e-10", [] { return Unscaled(SmallestStep); }}}},
      {"not_finite",
       [] { return FiniteAmiss(Shipped); },
       {{"bounds by fmin() and fmax()", [] { return FiniteAmiss(PlainBounds); }}}},
      {"constant",
       [] { return ConstantChanged(Shipped); },
       {{"a step that may be 0", [] { return ConstantChanged(PlainBounds); }}}},
      {"counts",
       [] { return BeyondStep(Shipped); },
       {{"elements behind whole buckets are left out", [] { return BeyondStep(LeavesRestOut); }}}},
      {"threads",
       [] { return OtherBits(ByThreads); },
       {{"rounding to the nearest level", [] { return OtherBits(Nearest); }},
        {"the random numbers of another call", [] { return OtherBits(SameNumbers); }}}},
      {"sum",
       [] { return SumError(Flat); },
       {{"a ring that encodes at each hop", [] { return SumError(RingOfCodes); }}}},
      {"ranks",
       [] { return UnequalRanks(Flat) + UnequalRanks(Hierarchical); },
       {{"an owner that keeps its sum", [] { return UnequalRanks(OwnerKeepsSum); }}}},
      {"bf16",
       [] { return NotNearest(crossover::shrink::ToBf16); },
       {{"the lower bits are cut off", [] { return NotNearest(CutOff); }}}},
      {"bf16_ring",
       [] { return RingError(crossover::shrink::ToBf16); },
       {{"the lower bits are cut off", [] { return RingError(CutOff); }}}},
  };
  return cases;
}

}  // namespace

int main(int count, char** arguments) {
  for (const Case& each : Cases()) {
    if (count != 2 || std::strcmp(each.name, arguments[1]) != 0) continue;
    std::printf("{\"value\": %.9g, \"bad\": {", each.measure());
    const char* separator = "";
    for (const Bad& bad : each.bad) {
      std::printf("%s\"%s\": %.9g", separator, bad.what, bad.measure());
      separator = ", ";
    }
    std::printf("}}\n");
    return 0;
  }
  std::fprintf(stderr, "shrink_bits: CASE: expected one of");
  for (const Case& each : Cases()) std::fprintf(stderr, " %s", each.name);
  std::fprintf(stderr, ", got %s\n", count == 2 ? arguments[1] : "none");
  return 2;
}
