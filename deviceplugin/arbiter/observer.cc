#include "deviceplugin/arbiter/observer.h"

#include "common/base/nccl_functions.h"

namespace crossover::arbiter {

std::string_view Name(EventKind kind) {
  switch (kind) {
    case EventKind::kArrive:
      return "arrive";
    case EventKind::kHold:
      return "hold";
    case EventKind::kRelease:
      return "release";
    case EventKind::kGrant:
      return "grant";
    case EventKind::kRevoke:
      return "revoke";
    case EventKind::kMint:
      return "mint";
    case EventKind::kSwallow:
      return "swallow";
    case EventKind::kOpen:
      return "open";
    case EventKind::kJoin:
      return "join";
    case EventKind::kLeave:
      return "leave";
    case EventKind::kMode:
      return "mode";
    case EventKind::kStep:
      return "step";
    case EventKind::kMeasure:
      return "measure";
    case EventKind::kOffend:
      return "offend";
    case EventKind::kPardon:
      return "pardon";
    case EventKind::kGrantCap:
      return "grant_cap";
    case EventKind::kRefuseCap:
      return "refuse_cap";
    case EventKind::kDamage:
      return "damage";
    case EventKind::kCalls:
      return "calls";
    case EventKind::kReductions:
      return "reductions";
  }
  return "unknown";
}

const char* ModeName(std::uint32_t mode) {
  constexpr const char* kNames[] = {"off", "observe", "gate"};
  return mode < 3 ? kNames[mode] : "invalid";
}
const char* PhaseName(std::uint32_t phase) {
  constexpr const char* kNames[] = {"learning", "locked", "taking"};
  return phase < 3 ? kNames[phase] : "invalid";
}
const char* TransportName(std::uint32_t transport) {
  constexpr const char* kNames[] = {"none", "gpu_gates", "host_gates", "relayed_gates", "signalled_gates"};
  return transport < 5 ? kNames[transport] : "invalid";
}
const char* FunctionName(std::uint32_t function) {
  constexpr const auto& kNames = base::kNcclFunctions;
  static_assert(CROSSOVER_ALL_REDUCE == 1 && CROSSOVER_SCATTER == kNames.size());
  return function >= 1 && function <= kNames.size() ? kNames[function - 1] : "invalid";
}

}  // namespace crossover::arbiter
