// Lists phrases in the texts that the node daemon publishes for its GPUs. `kubectl crossover doctor`
// recognises by its phrase why no turns are taken. It recognises by its name why slots are withheld
// (withheld.h), and by its phrase only what a daemon of an earlier version says.
#pragma once

namespace crossover::base {

// The daemon uses these when it says why it withholds slots.
inline constexpr char kSaysOtherPlugin[] = "another device plugin";
inline constexpr char kUsedByProcess[] = "used by a process of";
inline constexpr char kInMaintenance[] = "the node is in maintenance";
inline constexpr char kSaysStartedWithoutMps[] = " is on it, which was started without MPS";
inline constexpr char kSaysMpsTakesNone[] = "MPS takes no new clients";
// The daemon uses these when it says why jobs take no turns.
inline constexpr char kLibraryMissing[] = "the library is not in it";
inline constexpr char kLibrarySilent[] = "the library is in it and is not heard of";
inline constexpr char kSwitchedOff[] = "its mode is off";
// The daemon says this of a node that shares its GPUs in the way that the configuration asks for.
inline constexpr char kAsConfigured[] = "as configured";

}  // namespace crossover::base
