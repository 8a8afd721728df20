#include "deviceplugin/sharing/strategy.h"

#include <utility>

#include "common/base/gpu_phrases.h"

namespace crossover::deviceplugin {

std::string_view Name(Sharing sharing) {
  switch (sharing) {
    case Sharing::kAuto:
      return "auto";
    case Sharing::kMps:
      return "mps";
    case Sharing::kTimeslice:
      return "timeslice";
    case Sharing::kExclusive:
      break;
  }
  return "exclusive";
}

namespace {

using base::Withheld;

constexpr char kGone[] = "the control daemon of MPS does not run";

// Returns the strategy of MPS while its control daemon runs.
SharingStrategy ThroughMps(std::string reason, const MpsHistory& mps) {
  SharingStrategy strategy{.sharing = Sharing::kMps, .reason = std::move(reason)};
  if (!mps.fault.empty()) {
    strategy.withheld = {Withheld::kMpsTakesNone, mps.fault};
  } else if (!mps.known) {
    strategy.withheld = {Withheld::kMpsNotKnownYet, "it is not known yet whether MPS takes new clients"};
  }
  return strategy;
}

// Returns the strategy of MPS while its control daemon does not run.
SharingStrategy WithoutMps(std::string reason) {
  return {.sharing = Sharing::kMps,
          .reason = std::move(reason),
          .withheld = base::WithheldReason{Withheld::kMpsGone, kGone}};
}

}  // namespace

SharingStrategy ChooseSharing(Sharing wanted, const MpsHistory& mps) {
  switch (wanted) {
    case Sharing::kTimeslice:
    case Sharing::kExclusive:
      return {wanted, base::kAsConfigured};
    case Sharing::kMps:
      if (mps.alive) return ThroughMps(base::kAsConfigured, mps);
      return WithoutMps(base::kAsConfigured);
    case Sharing::kAuto:
      break;
  }
  if (mps.alive) return ThroughMps("the control daemon of MPS runs", mps);
  if (mps.needed) return WithoutMps("pods were started under MPS");
  if (mps.was_there) return WithoutMps("the control daemon of MPS ran a moment ago");
  return {Sharing::kExclusive,
          std::string(kGone) + ", and no pod is known to need MPS: without MPS sharing gains nothing"};
}

}  // namespace crossover::deviceplugin
