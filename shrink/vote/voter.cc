#include "shrink/vote/voter.h"

namespace crossover::shrink::vote {
namespace {

// Returns why rank 0 would not send this verdict as an answer to `own`, or an empty reason.
Reason WhyImpossible(const Verdict& verdict, const Hello& own) {
  const Proposal& said = own.proposal;
  const bool plain = verdict.choice == Choice::kPlain;
  if (verdict.rank != own.rank && !(plain && verdict.rank == 0))
    return MakeReason("verdict of rank 0: rank: expected %u, got %u", own.rank, verdict.rank);
  if (plain) return {};
  if (verdict.codec != said.codec)
    return MakeReason("verdict of rank 0: codec: expected %s, got %s", Name(said.codec), Name(verdict.codec));
  if (verdict.level != said.level)
    return MakeReason("verdict of rank 0: level: expected %u, got %u", said.level, verdict.level);
  if (verdict.budget_mib == 0 || verdict.budget_mib > said.budget_mib)
    return MakeReason("verdict of rank 0: budget: expected 1 to %u, got %u", said.budget_mib,
                      verdict.budget_mib);
  return {};
}

// Returns what rank 0 was to do next.
const char* Expected(VoterPhase phase) { return phase == VoterPhase::kConnects ? "a greeting" : "a verdict"; }

}  // namespace

Voter::Step Voter::Note(VoterEvent event, const Reason& reason) {
  const VoterPhase before = phase;
  phase = Next(phase, event);
  return phase == before ? Step{} : Step{Act::kNothing, reason};
}

Voter::Step Voter::Hear(const Greeting& greeting) {
  if (phase != VoterPhase::kConnects)
    return Note(VoterEvent::kBroken, MakeReason("rank 0: expected %s, got a greeting", Expected(phase)));
  if (greeting.version != kVersion) {
    Note(VoterEvent::kSaysNo, {});
    return {Act::kSayOtherVersion,
            As(PlainReason::kOtherVersion,
               MakeReason("greeting: version: expected %u, got %u", kVersion, greeting.version))};
  }
  if (!ready) {
    Note(VoterEvent::kSaysNo, {});
    return {Act::kSayNotReady, MakeReason("this rank: expected ready, got not ready")};
  }
  Note(VoterEvent::kGreeted, {});
  return {Act::kSayHello, {}};
}

Voter::Step Voter::Hear(const Verdict& verdict) {
  if (phase == VoterPhase::kConnects)
    return Note(VoterEvent::kBroken, As(PlainReason::kBrokenVote,
                                        MakeReason("rank 0: expected %s, got a verdict", Expected(phase))));
  const Reason impossible = WhyImpossible(verdict, *own);
  if (!impossible.empty()) return Note(VoterEvent::kBroken, impossible);
  if (verdict.choice == Choice::kPlain) return Note(VoterEvent::kPlain, verdict.reason);
  if (phase == VoterPhase::kWaits) budget_mib = verdict.budget_mib;
  return Note(VoterEvent::kNarrow, {});
}

Voter::Step Voter::Hear(const Broken& broken) {
  return Note(VoterEvent::kBroken, As(PlainReason::kBrokenVote, broken.reason));
}

Voter::Step Voter::Unreachable() {
  return Note(
      VoterEvent::kUnreachable,
      As(PlainReason::kUnreachable,
         MakeReason("port of rank 0: expected a connection, got none; rank 0 runs plain or has ended, or a "
                    "NetworkPolicy forbids it")));
}

Voter::Step Voter::FailToSend() {
  return Note(VoterEvent::kSendFailed,
              MakeReason("hello: expected to send %zu bytes, got an error or fewer", sizeof(WireHello)));
}

Voter::Step Voter::Lose() {
  return Note(VoterEvent::kLost,
              As(PlainReason::kUnreachable,
                 MakeReason("rank 0: expected %s, got the end of the connection", Expected(phase))));
}

Voter::Step Voter::EndTime() {
  const std::uint32_t limit = phase == VoterPhase::kConnects ? kGreetingLimitMs : kVerdictLimitMs;
  return Note(VoterEvent::kTimeLimit,
              As(PlainReason::kUnreachable,
                 MakeReason("rank 0: expected %s within %u ms, got none", Expected(phase), limit)));
}

}  // namespace crossover::shrink::vote
