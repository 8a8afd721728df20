// Lists phrases in the reasons that the node daemon publishes for its GPUs. `crossover gpus` recognises a
// reason by these phrases.
#pragma once

namespace crossover::base {

// These occur in why slots are withheld.
inline constexpr char kOtherPlugin[] = "another device plugin";
inline constexpr char kUsedByProcess[] = "used by a process of";
inline constexpr char kInMaintenance[] = "the node is in maintenance";
inline constexpr char kStartedWithoutMps[] = " is on it, which was started without MPS";
inline constexpr char kMpsTakesNone[] = "MPS takes no new clients";
// These occur in why no turns are taken.
inline constexpr char kLibraryMissing[] = "the library is not in it";
inline constexpr char kLibrarySilent[] = "the library is in it and is not heard of";
inline constexpr char kSwitchedOff[] = "its mode is off";
// The GPU's sharing mode is the one that the configuration asks for.
inline constexpr char kAsConfigured[] = "as configured";

}  // namespace crossover::base
