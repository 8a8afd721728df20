// Words by which reasons are known that a node's daemon publishes for its GPUs: whoever reads them looks for
// these.
#pragma once

namespace crossover::base {

// In why slots are withheld.
inline constexpr char kOtherPlugin[] = "another device plugin";
inline constexpr char kUsedByProcess[] = "used by a process of";
inline constexpr char kInMaintenance[] = "the node is in maintenance";
// In why no turns are taken.
inline constexpr char kLibraryMissing[] = "the library is not in it";
inline constexpr char kLibrarySilent[] = "the library is in it and is not heard of";
inline constexpr char kSwitchedOff[] = "its mode is off";
// Why its GPUs are shared as they are: somebody wanted it so.
inline constexpr char kAsConfigured[] = "as configured";

}  // namespace crossover::base
