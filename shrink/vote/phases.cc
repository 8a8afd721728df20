#include "shrink/vote/phases.h"

namespace crossover::shrink::vote {

CollectorPhase Next(CollectorPhase phase, CollectorEvent event) {
  if (IsDecided(phase)) return phase;
  switch (event) {
    case CollectorEvent::kAgrees:
      return phase;
    case CollectorEvent::kCompletes:
      return CollectorPhase::kNarrow;
    case CollectorEvent::kRefuses:
    case CollectorEvent::kLost:
    case CollectorEvent::kTimeLimit:
      break;
  }
  return CollectorPhase::kPlain;
}

namespace {

VoterPhase NextOfConnects(VoterEvent event) {
  switch (event) {
    case VoterEvent::kGreeted:
      return VoterPhase::kWaits;
    case VoterEvent::kSaysNo:
    case VoterEvent::kUnreachable:
    case VoterEvent::kBroken:
    case VoterEvent::kLost:
    case VoterEvent::kTimeLimit:
      return VoterPhase::kPlain;
    case VoterEvent::kSendFailed:
    case VoterEvent::kPlain:
    case VoterEvent::kNarrow:
      break;
  }
  return VoterPhase::kConnects;
}

VoterPhase NextOfWaits(VoterEvent event) {
  switch (event) {
    case VoterEvent::kPlain:
      return VoterPhase::kPlain;
    case VoterEvent::kNarrow:
      return VoterPhase::kNarrow;
    case VoterEvent::kBroken:
    case VoterEvent::kSendFailed:
    case VoterEvent::kLost:
    case VoterEvent::kTimeLimit:
      return VoterPhase::kFailed;
    case VoterEvent::kGreeted:
    case VoterEvent::kSaysNo:
    case VoterEvent::kUnreachable:
      break;
  }
  return VoterPhase::kWaits;
}

}  // namespace

VoterPhase Next(VoterPhase phase, VoterEvent event) {
  if (phase == VoterPhase::kConnects) return NextOfConnects(event);
  return phase == VoterPhase::kWaits ? NextOfWaits(event) : phase;
}

GangMemory Next(GangMemory memory, VoterPhase ended) {
  const bool refused = ended == VoterPhase::kPlain || ended == VoterPhase::kFailed;
  return refused ? GangMemory::kRefused : memory;
}

Start StartOf(Origin origin, std::uint32_t ranks, GangMemory memory) {
  switch (origin) {
    case Origin::kInit:
      return ranks >= 2 && memory == GangMemory::kVotes ? Start::kVotes : Start::kPlain;
    case Origin::kSplit:
    case Origin::kShrink:
      return Start::kInherits;
    case Origin::kGrow:
    case Origin::kOther:
      break;
  }
  return Start::kPlain;
}

}  // namespace crossover::shrink::vote
