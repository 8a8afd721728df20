#include "shrink/vote/collector.h"

#include <algorithm>

namespace crossover::shrink::vote {
namespace {

// Returns why a hello for this communicator differs from that of rank 0, or an empty reason.
Reason WhyDiffers(const Hello& hello, const Hello& own) {
  const Proposal& got = hello.proposal;
  const Proposal& expected = own.proposal;
  if (hello.ranks != own.ranks)
    return As(PlainReason::kOtherLevel,
              MakeReason("hello of rank %u: ranks: expected %u, got %u", hello.rank, own.ranks, hello.ranks));
  if (got.build != expected.build)
    return As(PlainReason::kOtherBuild,
              MakeReason("hello of rank %u: build of the library: expected %016llx, got %016llx", hello.rank,
                         static_cast<unsigned long long>(expected.build),
                         static_cast<unsigned long long>(got.build)));
  if (got.codec != expected.codec)
    return As(PlainReason::kOtherLevel, MakeReason("hello of rank %u: CROSSOVER_SHRINK: expected %s, got %s",
                                                   hello.rank, Name(expected.codec), Name(got.codec)));
  if (got.level != expected.level)
    return As(PlainReason::kOtherLevel, MakeReason("hello of rank %u: level: expected %u, got %u", hello.rank,
                                                   expected.level, got.level));
  return {};
}

}  // namespace

Collector::Step Collector::Note(CollectorEvent event, const Reason& reason) {
  const CollectorPhase before = phase;
  phase = Next(phase, event);
  return phase == before ? Step{} : Step{Act::kTellAll, reason};
}

Collector::Step Collector::Hear(const Hello& hello, std::span<Seat> seats) {
  if (hello.id != own->id) {
    // Rank 0 of its own communicator has not heard it, so that one does not narrow.
    return {Act::kTellOne,
            As(PlainReason::kBrokenVote, MakeReason("hello of rank %u: communicator: expected this one's ID, "
                                                    "got another",
                                                    hello.rank))};
  }
  // If the choice is narrow, all ranks count: this one would be told that it is not narrowed, or a stranger.
  if (phase == CollectorPhase::kNarrow)
    return {Act::kClose,
            MakeReason("hello of rank %u: expected one, got another after the verdict", hello.rank)};
  // The verdict is on its way to all connections that were greeted.
  if (phase == CollectorPhase::kPlain) return {};
  Reason reason = WhyDiffers(hello, *own);
  if (!reason.empty()) return Note(CollectorEvent::kRefuses, reason);
  Seat& seat = seats[hello.rank];
  if (seat == Seat::kCounted)
    return Note(
        CollectorEvent::kRefuses,
        As(PlainReason::kBrokenVote, MakeReason("hello of rank %u: expected one, got two", hello.rank)));
  seat = Seat::kCounted;
  budget_mib = std::min(budget_mib, hello.proposal.budget_mib);
  const bool last = ++counted == own->ranks;
  const Step step = Note(last ? CollectorEvent::kCompletes : CollectorEvent::kAgrees, {});
  return step.act == Act::kTellAll ? step : Step{Act::kCount, {}};
}

Collector::Step Collector::Hear(const No& no) {
  if (no.id != own->id)
    return {Act::kClose,
            MakeReason("no of rank %u: communicator: expected this one's ID, got another", no.rank)};
  const bool version = no.why == static_cast<std::uint32_t>(Why::kOtherVersion);
  const Step step =
      Note(CollectorEvent::kRefuses,
           As(version ? PlainReason::kOtherVersion : PlainReason::kUnreadyRank,
              MakeReason("rank %u: expected hello, got no: %s", no.rank,
                         version ? "its file has another version" : "it is not ready (its log says why)")));
  return step.act == Act::kTellAll ? step : Step{Act::kClose, {}};
}

Collector::Step Collector::Lose(std::uint32_t rank) {
  return Note(CollectorEvent::kLost,
              As(PlainReason::kLostRank,
                 MakeReason("rank %u: expected a connection until the verdict, got its end", rank)));
}

Collector::Step Collector::EndTime(std::span<const Seat> seats) {
  const auto silent = std::find(seats.begin() + 1, seats.end(), Seat::kSilent);
  return Note(CollectorEvent::kTimeLimit,
              As(PlainReason::kMissingRank,
                 MakeReason("ranks that said hello within %u ms: expected %u, got %u; rank %zu did not",
                            kCollectorLimitMs, own->ranks, counted,
                            static_cast<std::size_t>(silent - seats.begin()))));
}

Verdict Collector::VerdictFor(std::uint32_t rank, const Reason& reason) const {
  Verdict verdict;
  verdict.rank = rank;
  verdict.reason = reason;
  if (phase != CollectorPhase::kNarrow) return verdict;
  verdict.choice = Choice::kNarrow;
  verdict.codec = own->proposal.codec;
  verdict.level = own->proposal.level;
  verdict.budget_mib = budget_mib;
  return verdict;
}

}  // namespace crossover::shrink::vote
