#include "deviceplugin/sharing/choice.h"

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

SharingChoice ChooseSharing(Sharing wanted, bool mps_alive, bool was_mps) {
  constexpr char kGone[] = "the control daemon of MPS does not run";
  switch (wanted) {
    case Sharing::kTimeslice:
    case Sharing::kExclusive:
      return {wanted, "as configured", ""};
    case Sharing::kMps:
      return {wanted, "as configured", mps_alive ? "" : kGone};
    case Sharing::kAuto:
      break;
  }
  if (mps_alive) return {Sharing::kMps, "the control daemon of MPS runs", ""};
  if (was_mps) return {Sharing::kMps, "the control daemon of MPS has run", kGone};
  return {Sharing::kExclusive, std::string(kGone) + ": sharing gains nothing without", ""};
}

}  // namespace crossover::deviceplugin
