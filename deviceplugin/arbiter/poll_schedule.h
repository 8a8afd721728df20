// Decides when to poll a GPU again: often when an event is expected soon, rarely otherwise. Pure.
//
// Each poll costs a timer and a wake-up, some 5 to 15 us of processor time, whatever it finds. With a poll
// every 100 us the arbiter would use a tenth of a core per GPU. Clients need the arbiter at times that it can
// predict: near the end of a turn, and near an arrival. Between these no client waits for it.
#pragma once

#include <algorithm>

#include "common/base/clock.h"
#include "turn/policy.h"

namespace crossover::arbiter {

inline constexpr turn::Time kShortestPoll = 30 * base::kNsPerUs;
inline constexpr turn::Time kSparsePoll = base::kNsPerMs;
inline constexpr turn::Time kRivalPoll = 100 * base::kNsPerUs;  // while a holder must yield
// The end of a turn, or an arrival, counts as near within the learned length divided by kMarginShare, and at
// least within kLeastMargin.
inline constexpr turn::Time kMarginShare = 20;
inline constexpr turn::Time kLeastMargin = 300 * base::kNsPerUs;
constexpr turn::Time Margin(turn::Time learned) { return std::max(learned / kMarginShare, kLeastMargin); }

// Returns after how many launches a client yields, so that a stretch takes about `wanted`. `turn` is the
// length of the client's turns, and `launches` the number of launches in them, as the client claims. Returns
// 0 for no yield points.
inline std::uint32_t LaunchesPerStretch(turn::Time wanted, turn::Time turn, std::uint32_t launches) {
  constexpr std::uint32_t kMost = 1u << 24;
  if (wanted == 0 || turn == turn::kNever || wanted >= turn || launches == 0 || launches > kMost) return 0;
  return static_cast<std::uint32_t>(std::max<turn::Time>(1, launches * wanted / turn));
}

// Returns when to poll, if the turnstile asks for a poll at `wanted`. The result is earlier only if a turn
// should be broken for another client by then, and later while `policy` expects no event of the clients in
// `gated`.
inline turn::Time NextPoll(turn::Time now, turn::Time wanted, const turn::Policy& policy,
                           turn::SlotSet gated) {
  if (gated.Count() == 0) return wanted;  // the timings are not maintained then
  bool any_waits = false;
  bool somebody_holds = false;
  turn::Time next = now + kSparsePoll;
  turn::Time rival = turn::kNever;
  for (const turn::SlotIndex slot : gated) {
    const turn::TimingModel& timing = policy.timing(slot);
    any_waits |= timing.last().waiting();
    if (timing.held() != turn::kNever) {
      somebody_holds = true;
      if (timing.turn() == turn::kNever) return wanted;
      next = std::min(next, timing.next_release() - Margin(timing.turn()));
      rival = std::min(rival, policy.NextRival(gated, slot, now));
    }
  }
  if (somebody_holds) return std::min(std::max(wanted, next), rival > now ? rival : now + kRivalPoll);
  if (any_waits) return wanted;
  for (const turn::SlotIndex slot : gated) {
    const turn::TimingModel& timing = policy.timing(slot);
    const turn::Time expected = timing.next_arrival();
    if (expected == turn::kNever) continue;
    const turn::Time margin = Margin(timing.gap());
    if (now <= expected + margin) next = std::min(next, expected - margin);
  }
  return std::max(wanted, next);
}

}  // namespace crossover::arbiter
