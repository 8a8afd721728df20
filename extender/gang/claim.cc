#include "extender/gang/claim.h"

namespace crossover::extender {

const char* NameOf(ClaimEnd end) {
  switch (end) {
    case ClaimEnd::kRoomMade:
      return "room_made";
    case ClaimEnd::kForbidden:
      return "forbidden";
    case ClaimEnd::kSeatsLost:
      return "seats_lost";
    case ClaimEnd::kIncomplete:
      return "incomplete";
    case ClaimEnd::kChanged:
      break;
  }
  return "changed";
}

}  // namespace crossover::extender
