// libs: crossover_shrink_vote
// Reads any bytes as what comes to rank 0 of three, one message behind the other, and as what comes to
// rank 2. A message that is taken has a meaning that a process of ours could give it. Rank 0 narrows exactly
// where ranks 1 and 2 have said the same before anything was refused. A rank that said hello continues only
// by a verdict.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>

#include "shrink/vote/collector.h"
#include "shrink/vote/voter.h"
#include "tests/fuzz/require.h"

namespace {

using namespace crossover::shrink::vote;
using crossover::fuzz::Require;

constexpr std::uint32_t kRanks = 3;

Hello HelloOf(std::uint32_t rank) {
  Hello hello{.ranks = kRanks, .rank = rank, .proposal = {7, Codec::kBf16, 16, 100}};
  hello.id.fill('i');
  return hello;
}

void RequireReason(const Reason& reason) {
  Require(!reason.empty() && reason.view().size() < kReasonBytes);
  for (const char c : reason.view()) Require(c >= ' ' && c <= '~');
}

template <class Wire>
void RequireSame(const Wire& made, std::span<const std::byte> bytes) {
  Require(bytes.size() == sizeof made && std::memcmp(&made, bytes.data(), sizeof made) == 0);
}

// Returns the first message in `bytes`, or all of them where that is none.
std::span<const std::byte> FirstOf(std::span<const std::byte> bytes) {
  Reason reason;
  if (bytes.size() < sizeof(WireHead)) return bytes;
  const std::size_t size = BytesOf(bytes, &reason);
  Require((size == 0) == !reason.empty() && size <= kLongestMessage);
  return size == 0 ? bytes : bytes.first(std::min(size, bytes.size()));
}

// Takes what comes to rank 0.
class Listener {
 public:
  void Take(std::span<const std::byte> bytes) {
    const CollectorPhase before = collector_.phase;
    const ToCollector message = ParseForCollector(bytes);
    if (const auto* hello = std::get_if<Hello>(&message)) {
      RequireSame(MakeHello(*hello), bytes);
      TakeHello(*hello);
    } else if (const auto* no = std::get_if<No>(&message)) {
      collector_.Hear(*no);
      refused_ = refused_ || no->id == own_.id;
    } else {
      const Collector::Step step = Collector::Hear(std::get<Broken>(message));
      Require(step.act == Collector::Act::kClose);
      RequireReason(step.reason);
    }
    if (IsDecided(before)) Require(collector_.phase == before);
    const bool all = said_[1] && said_[2];
    Require((collector_.phase == CollectorPhase::kNarrow) == all);
    Require((collector_.phase == CollectorPhase::kPlain) == (refused_ && !all));
  }

 private:
  void TakeHello(const Hello& hello) {
    const bool open = collector_.phase == CollectorPhase::kGathers;
    const Collector::Step step = collector_.Hear(hello, seats_);
    if (hello.id != own_.id) return Require(step.act == Collector::Act::kTellOne);
    if (!open) return;
    Proposal same = hello.proposal;
    same.budget_mib = own_.proposal.budget_mib;
    if (hello.ranks != kRanks || same != own_.proposal || said_[hello.rank]) {
      refused_ = true;
      return RequireReason(step.reason);
    }
    said_[hello.rank] = true;
  }

  const Hello own_ = HelloOf(0);
  std::array<Seat, kRanks> seats_{};
  Collector collector_{&own_};
  std::array<bool, kRanks> said_{};
  bool refused_ = false;
};

// Takes what comes to rank 2.
class Speaker {
 public:
  void Take(std::span<const std::byte> bytes) {
    const VoterPhase before = voter_.phase;
    const ToVoter message = ParseForVoter(bytes);
    if (const auto* greeting = std::get_if<Greeting>(&message)) {
      voter_.Hear(*greeting);
      Require(voter_.phase != VoterPhase::kNarrow || before == VoterPhase::kNarrow);
    } else if (const auto* verdict = std::get_if<Verdict>(&message)) {
      if (verdict->choice == Choice::kNarrow) Require(verdict->level >= 1 && verdict->budget_mib >= 1);
      voter_.Hear(*verdict);
      return;
    } else {
      RequireReason(std::get<Broken>(message).reason);
      voter_.Hear(std::get<Broken>(message));
    }
    if (before == VoterPhase::kWaits) Require(!Continues(voter_.phase));
    if (HasEnded(before)) Require(voter_.phase == before);
  }

 private:
  const Hello own_ = HelloOf(2);
  Voter voter_{&own_, true};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Listener listener;
  Speaker speaker;
  auto bytes = std::as_bytes(std::span(data, size));
  do {
    const std::span<const std::byte> message = FirstOf(bytes);
    listener.Take(message);
    speaker.Take(message);
    bytes = bytes.subspan(message.size());
  } while (!bytes.empty());
  return 0;
}
