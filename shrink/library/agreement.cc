#include "shrink/library/agreement.h"

#include <utility>

#include "shrink/meeting/gather.h"
#include "shrink/meeting/speak.h"

namespace crossover::shrink::library {

using meeting::UniqueFd;
using vote::GangMemory;

void Agreement::Offer(vote::Id* id, vote::Reason* reason) {
  if (memory_.load(std::memory_order_relaxed) == GangMemory::kRefused) return;
  meeting::Place place;
  UniqueFd listener = meeting::Listen(meeting::ChooseAddress(*id), &place, reason);
  if (!listener) return;
  if (!meeting::WriteTail(place, id)) {
    *reason = vote::MakeReason(
        "unique ID: expected zeros from byte %zu on, got others; NCCL uses them, or the program has to clear "
        "them first",
        meeting::kZeroFrom);
    return;
  }
  watcher_.At(meeting::Moment::kListens, listener.get());
  const base::Locked locked(mutex_);
  Port& port = ports_[next_++ % ports_.size()];
  UniqueFd(port.listener).Reset();
  port = {*id, listener.Release()};
}

UniqueFd Agreement::Take(const vote::Id& id) {
  const base::Locked locked(mutex_);
  for (Port& port : ports_) {
    if (port.listener >= 0 && port.id == id) return UniqueFd(std::exchange(port.listener, -1));
  }
  return {};
}

Meeting Agreement::Prepare(vote::Origin origin, const vote::Id& id, std::uint32_t ranks, std::uint32_t rank) {
  Meeting meeting;
  UniqueFd listener = Take(id);
  const vote::Start start = vote::StartOf(origin, ranks, memory_.load(std::memory_order_relaxed));
  if (start != vote::Start::kVotes) return meeting;
  if (rank == 0) {
    if (!listener) {
      meeting.reason = vote::As(
          vote::PlainReason::kNoPort,
          vote::MakeReason(
              "rank 0: expected an open port of this unique ID, got none: another process made it, no port "
              "opened, "
              "or %zu more IDs followed",
              ports_.size()));
      return meeting;
    }
    meeting.listener = std::move(listener);
  } else {
    const meeting::Tail tail = meeting::ReadTail(id);
    if (tail.kind != meeting::TailKind::kPlace) {
      meeting.reason =
          vote::As(vote::PlainReason::kNoPort,
                   tail.kind == meeting::TailKind::kUnknown
                       ? tail.reason
                       : vote::MakeReason(
                             "unique ID: expected a port in it, got none; see the log of the process that "
                             "made the ID, or LD_PRELOAD the library there"));
      return meeting;
    }
    meeting.place = tail.place;
  }
  meeting.start = start;
  return meeting;
}

meeting::Outcome Agreement::Vote(Meeting meeting, vote::Hello hello, bool ready) {
  meeting::Outcome outcome;
  hello.proposal.build = build_();
  if (hello.rank != 0) {
    outcome = meeting::Speak(meeting.place, hello, ready, limits_, watcher_);
  } else if (ready) {
    outcome = meeting::Gather(std::move(meeting.listener), hello, limits_, watcher_);
  } else {
    // The port closes, so the others run plain at once.
    outcome.reason = vote::MakeReason("this rank: expected ready, got not ready");
  }
  const GangMemory before = memory_.load(std::memory_order_relaxed);
  memory_.store(vote::Next(before, outcome.phase), std::memory_order_relaxed);
  return outcome;
}

}  // namespace crossover::shrink::library
