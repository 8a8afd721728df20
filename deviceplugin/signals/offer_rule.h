// Decides whether the clients of a GPU get signals. Pure.
#pragma once

#include "common/base/clock.h"
#include "proto/signaller_protocol.h"
#include "turn/policy.h"

namespace crossover::signals {

// Holds what is known of a GPU.
struct Facts {
  bool followed = false;    // a signaller follows the turnstile
  bool refused = false;     // the signaller has refused to follow it
  bool still = false;       // its beat stands still
  bool erased = false;      // signals are erased repeatedly
  bool kinds_meet = false;  // a client takes turns, or is about to, and asks for no signals
};

constexpr crossover_offer_state StateOf(const Facts& facts) {
  if (facts.refused) return CROSSOVER_OFFER_REFUSED;
  if (!facts.followed) return CROSSOVER_OFFER_NO_SIGNALLER;
  if (facts.still) return CROSSOVER_OFFER_STILL;
  if (facts.kinds_meet) return CROSSOVER_OFFER_KINDS_MEET;
  return facts.erased ? CROSSOVER_OFFER_ERASED : CROSSOVER_OFFER_GIVEN;
}

// Keeps what the clients of a GPU were told. Signals that were taken back are given again only kPause later,
// so that clients do not change to and fro. Not thread-safe.
class OfferRule {
 public:
  static constexpr turn::Time kPause = base::kNsPerSecond;

  // Returns what clients are told from `now` on.
  crossover_offer_state Advance(const Facts& facts, turn::Time now) {
    const crossover_offer_state wanted = StateOf(facts);
    if (state_ == CROSSOVER_OFFER_GIVEN && wanted != state_) again_ = now + kPause;
    if (wanted != CROSSOVER_OFFER_GIVEN || now >= again_) state_ = wanted;
    return state_;
  }
  crossover_offer_state state() const { return state_; }

 private:
  crossover_offer_state state_ = CROSSOVER_OFFER_NO_SIGNALLER;
  turn::Time again_ = 0;
};

}  // namespace crossover::signals
