#include "deviceplugin/sharing/choice.h"

#include "common/base/gpu_reasons.h"

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

SharingChoice ChooseSharing(Sharing wanted, const MpsHistory& mps) {
  constexpr char kGone[] = "the control daemon of MPS does not run";
  switch (wanted) {
    case Sharing::kTimeslice:
    case Sharing::kExclusive:
      return {wanted, base::kAsConfigured, ""};
    case Sharing::kMps:
      return {wanted, base::kAsConfigured, mps.alive ? mps.fault : kGone};
    case Sharing::kAuto:
      break;
  }
  if (mps.alive) return {Sharing::kMps, "the control daemon of MPS runs", mps.fault};
  if (mps.needed) return {Sharing::kMps, "pods were started under MPS", kGone};
  if (mps.was_there) return {Sharing::kMps, "the control daemon of MPS ran a moment ago", kGone};
  return {Sharing::kExclusive, std::string(kGone) + ", and no pod needs it: sharing gains nothing without",
          ""};
}

}  // namespace crossover::deviceplugin
