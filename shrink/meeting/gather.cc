#include "shrink/meeting/gather.h"

#include <errno.h>
#include <poll.h>

#include <algorithm>
#include <utility>
#include <variant>

#include "shrink/meeting/array.h"
#include "shrink/vote/collector.h"

namespace crossover::shrink::meeting {
namespace {

using vote::Collector;
using vote::CollectorPhase;
using vote::Seat;

// Strangers may hold so many connections beside those of the ranks.
constexpr std::uint32_t kSpare = 64;
// Limits the ranks of a vote, because a process has only so many descriptors. With more it runs plain.
constexpr std::uint32_t kMostAtOnce = 16'384;

struct Connection {
  UniqueFd socket;
  MessageReader reader;
  std::uint32_t rank = 0;  // 0: its hello does not count
};

// A Gathering is one vote of rank 0. Its connections are the first `used_` of a fixed number.
class Gathering {
 public:
  Gathering(UniqueFd listener, const vote::Hello& own, const Limits& limits, const Watcher& watcher)
      : listener_(std::move(listener)),
        limits_(limits),
        watcher_(watcher),
        ranks_(own.ranks),
        most_(std::min(own.ranks, kMostAtOnce) + kSpare),
        collector_(&own) {}

  Outcome Run() {
    if (ranks_ > kMostAtOnce)
      return Plain(vote::MakeReason("ranks: expected at most %u, got %u", kMostAtOnce, ranks_));
    if (!connections_.Make(most_) || !polled_.Make(most_ + 1) || !seats_.Make(ranks_))
      return Plain(vote::MakeReason("memory for the vote of %u ranks: expected some, got none", ranks_));
    watcher_.At(Moment::kGathers, listener_.get());
    const std::int64_t deadline = DeadlineIn(limits_.collector_ms);
    while (!vote::IsDecided(collector_.phase)) {
      if (MsUntil(deadline) == 0) {
        Do(collector_.EndTime(Seats()), nullptr, 0);
      } else {
        Turn(deadline);
      }
    }
    Linger();
    if (collector_.phase == CollectorPhase::kPlain) return Plain(reason_);
    return {vote::VoterPhase::kNarrow, collector_.budget_mib, {}};
  }

 private:
  static Outcome Plain(const Reason& reason) { return {vote::VoterPhase::kPlain, 0, reason}; }
  std::span<Seat> Seats() const { return {seats_.get(), ranks_}; }

  // Waits for the next events until the deadline, and handles them.
  void Turn(std::int64_t deadline) {
    const std::uint32_t before = used_;
    polled_[before] = {listener_.get(), static_cast<short>(before < most_ ? POLLIN : 0), 0};
    for (std::uint32_t i = 0; i < before; ++i) polled_[i] = {connections_[i].socket.get(), POLLIN, 0};
    if (::poll(polled_.get(), before + 1, MsUntil(deadline)) <= 0) return;
    for (std::uint32_t i = 0; i < before; ++i) {
      if (polled_[i].revents != 0 && connections_[i].socket) Hear(connections_[i]);
    }
    if (!vote::IsDecided(collector_.phase) && polled_[before].revents != 0) Greet();
    Forget();
  }

  void Greet() {
    UniqueFd socket = Accept(listener_.get());
    if (!socket) return;
    watcher_.At(Moment::kGreets, socket.get());
    if (!SendMessage(socket.get(), vote::MakeGreeting())) return;
    Connection& fresh = connections_[used_++];
    fresh = Connection{};
    fresh.socket = std::move(socket);
  }

  // Drops the connections that are closed.
  void Forget() {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < used_; ++i) {
      if (!connections_[i].socket) continue;
      if (kept != i) connections_[kept] = std::move(connections_[i]);
      ++kept;
    }
    used_ = kept;
  }

  void Hear(Connection& from) {
    if (vote::IsDecided(collector_.phase)) return;
    const auto state = from.reader.Read(from.socket.get());
    if (state == MessageReader::State::kPart) return;
    if (state == MessageReader::State::kEnded) {
      const std::uint32_t rank = from.rank;
      from.socket.Reset();
      if (rank != 0) Do(collector_.Lose(rank), nullptr, 0);
      return;
    }
    const vote::ToCollector message = vote::ParseForCollector(from.reader.message());
    if (const auto* hello = std::get_if<vote::Hello>(&message)) {
      watcher_.At(Moment::kHeard, from.socket.get());
      Do(collector_.Hear(*hello, Seats()), &from, hello->rank);
    } else if (const auto* no = std::get_if<vote::No>(&message)) {
      Do(collector_.Hear(*no), &from, 0);
    } else {
      Do(Collector::Hear(*std::get_if<vote::Broken>(&message)), &from, 0);
    }
  }

  // Does what a step says. `from` is the connection that it came from, or null; `rank` that of its hello.
  void Do(const Collector::Step& step, Connection* from, std::uint32_t rank) {
    switch (step.act) {
      case Collector::Act::kNothing:
        return;
      case Collector::Act::kCount:
        from->rank = rank;
        return;
      case Collector::Act::kTellAll:
        if (from != nullptr && from->rank == 0) from->rank = rank;
        reason_ = step.reason;
        return TellAll();
      case Collector::Act::kTellOne: {
        vote::Verdict verdict;
        verdict.rank = rank;
        verdict.reason = step.reason;
        SendMessage(from->socket.get(), vote::MakeVerdict(verdict));
        from->socket.Reset();
        return;
      }
      case Collector::Act::kClose:
        from->socket.Reset();
        return;
    }
  }

  void TellAll() {
    watcher_.At(Moment::kDecided, -1);
    listener_.Reset();
    for (std::uint32_t i = 0; i < used_; ++i) {
      Connection& to = connections_[i];
      if (!to.socket) continue;
      if (to.rank == 0 && collector_.phase == CollectorPhase::kNarrow) {
        to.socket.Reset();
        continue;
      }
      SendMessage(to.socket.get(), vote::MakeVerdict(collector_.VerdictFor(to.rank, reason_)));
      watcher_.At(Moment::kToldOne, to.socket.get());
    }
    watcher_.At(Moment::kToldAll, -1);
  }

  // Keeps each connection until its other end closes it, or the limit is over. Closing one with unread bytes
  // would destroy the verdict on its way.
  void Linger() {
    const std::int64_t deadline = DeadlineIn(limits_.linger_ms);
    for (;;) {
      for (std::uint32_t i = 0; i < used_; ++i) {
        if (connections_[i].socket && !Drain(connections_[i].socket.get())) connections_[i].socket.Reset();
      }
      Forget();
      if (used_ == 0 || MsUntil(deadline) == 0) return;
      for (std::uint32_t i = 0; i < used_; ++i) polled_[i] = {connections_[i].socket.get(), POLLIN, 0};
      if (::poll(polled_.get(), used_, MsUntil(deadline)) < 0 && errno != EINTR) return;
    }
  }

  UniqueFd listener_;
  const Limits limits_;
  const Watcher watcher_;
  const std::uint32_t ranks_;
  const std::uint32_t most_;  // connections at once
  Collector collector_;
  Array<Connection> connections_;
  Array<pollfd> polled_;
  Array<Seat> seats_;
  std::uint32_t used_ = 0;
  Reason reason_;
};

}  // namespace

Outcome Gather(UniqueFd listener, const vote::Hello& own, const Limits& limits, const Watcher& watcher) {
  return Gathering(std::move(listener), own, limits, watcher).Run();
}

}  // namespace crossover::shrink::meeting
