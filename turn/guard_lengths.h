// Holds the numbers by which the guard measures, chooses and paces (turn/guard.h), for its own files alone.
#pragma once

#include <cstdint>

#include "turn/timing_model.h"

namespace crossover::turn {

// Lengths without a unit count iterations of the first job. A block first runs unmeasured for a quarter of
// its length, because a change of ways disturbs the jobs. By turns it does so for kDisturbed at least.
constexpr std::uint32_t kFirstRound = 8;
constexpr std::uint32_t kLastRound = 16;
constexpr std::uint32_t kDisturbed = 4;
constexpr std::uint32_t kWindow = 32;  // between looks, the chosen way is measured in blocks of this length
constexpr std::uint32_t kLongest = 1024;  // a block grows to this if another job's iterations are longer
constexpr double kLeastOfEach = 4;  // iterations of each job that a block measures, or it becomes longer
// Old measurements of a way count as this many iterations at most: kBefore beside those of a look,
// kRemembered beside those of a window.
constexpr double kBefore = 256;
constexpr double kRemembered = 256;
// A look costs at most this part of the time until the next look: kCostAtFirst if it has changed something,
// kCost if it has not. Looks are apart by powers of four, so that GPUs that measure costs differently seldom
// choose different distances.
constexpr double kCostAtFirst = 0.02;
constexpr double kCost = 0.005;
constexpr std::uint32_t kSoon = 64;
constexpr std::uint32_t kLater = 1024;
// The first look begins at a multiple of kMeeting, when the jobs have taken turns for kFirstLook iterations
// or for kFirstLookAfter. Until then the policy learns what the jobs need, and the guard measures turns.
// After that time the cost of a look is small beside it.
constexpr std::uint32_t kMeeting = 16;
constexpr std::uint32_t kFirstLook = 48;
// In slices the first look begins at a multiple of this. It can come later there, because slices cost little.
// GPUs whose jobs meet a few iterations apart then seldom look at different times, which would cost much if
// side by side is slow.
constexpr std::uint32_t kMeetingInSlices = 64;
constexpr Time kFirstLookAfter = 2'400'000'000;
// Looks that begin at multiples of these numbers measure what jobs take alone: of kAloneSoon if one after the
// other may be the best way, of kAloneLater if the jobs gain more, and of kAloneEach once the guard knows it
// of all jobs. Jobs that share well lose most while one of them is alone: at the rate 2 as much as 8
// iterations.
constexpr std::uint32_t kAloneSoon = 128;
constexpr std::uint32_t kAloneLater = 1024;
constexpr std::uint32_t kAloneEach = 4096;
// At a higher rate one after the other is not the best way: the rates that rest on estimates are wrong by
// less than this.
constexpr double kAloneMatters = 1.12;

// Each job is alone for as many iterations as last kSolo while the jobs share. A job whose shared iteration
// lasts longer than kLongestSolo is never alone: the other jobs would wait for too long, and its turns show
// well enough what it takes.
constexpr Time kSolo = 50'000'000;
constexpr Time kLongestSolo = 100'000'000;
constexpr std::uint32_t kLeastSolo = 8;
constexpr Time kSlice = 250'000'000;  // jobs run one after the other: how long a job has the GPU at a time
constexpr std::uint32_t kMostIterations = 1024;  // iterations of a job in such a slice

// In slices a job's iterations come in bursts, so single ones tell nothing. The guard counts those that all
// jobs have done in a block, and takes them to spread by this part of their mean.
constexpr double kSpreadInSlices = 0.05;
// Side by side may be so slow that a look costs much. So a look has a glance at this way when the first job
// has been measured over kGlance iterations, and ends there if turns surely give more. In slices, in which a
// switch of contexts may take long, it has its glance after kGlanceInSlices. It ends there if side by side
// gives less than kHopeless of what turns give, and the next look comes late.
constexpr std::uint32_t kGlance = 4;
constexpr std::uint32_t kGlanceInSlices = 2;
constexpr double kHopeless = 0.7;
constexpr std::uint32_t kMuchLater = 4096;

// The error of a mean of n iterations counts for 1 + kFew / n of it.
constexpr double kFew = 4;
constexpr double kSurely = 4;  // a difference of this many standard errors makes the guard look early
// A job counts as changed when the length of its iterations differs by this part from that at the choice.
constexpr double kChanged = 0.2;

// Returns how many iterations of `length` last for `wanted`: `least` times a power of two, at most
// kMostIterations.
inline std::uint32_t IterationsFor(Time wanted, Time length, std::uint32_t least) {
  std::uint32_t iterations = least;
  while (iterations < kMostIterations && iterations * length < wanted) iterations *= 2;
  return iterations;
}
inline std::uint32_t SliceOf(Time alone) { return IterationsFor(kSlice, alone, 1); }

// A job's number stands still when it has not changed for kStands, and for kStandsFor of the job's steps.
// Such a job counts its iterations only while it takes turns. Looks are put off by kLater, doubled at most
// kMostStood times.
constexpr Time kStands = 2'000'000'000;
constexpr Time kStandsFor = 16;
constexpr std::uint32_t kMostStood = 8;

inline bool Reached(std::uint32_t iteration, std::uint32_t mark) {
  return static_cast<std::int32_t>(iteration - mark) >= 0;
}

inline std::uint32_t AlignDown(std::uint32_t iteration, std::uint32_t multiple) {
  return iteration / multiple * multiple;
}

inline std::uint32_t AlignUp(std::uint32_t iteration, std::uint32_t multiple) {
  return (iteration + multiple - 1) / multiple * multiple;
}

}  // namespace crossover::turn
