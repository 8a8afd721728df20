// Who a client is, where its own word is not enough, and what it may do.
#pragma once

#include <string>
#include <variant>

#include "deviceplugin/arbiter/messages.h"
#include "deviceplugin/arbiter/mode_rule.h"
#include "deviceplugin/arbiter/observer.h"
#include "deviceplugin/arbiter/peer.h"

namespace crossover::arbiter {

struct Unidentified {
  std::string reason;  // why it may not join now; it will ask again
};

// What a client may do: kOff, it may not stay; kObserve, it is watched.
struct Standing {
  Policy policy = Policy::kEnforce;
  std::string reason;  // where that is less than kEnforce
};

// The account of whoever is known by the user alone.
inline std::string AccountOfUser(const Peer& peer) { return "user " + std::to_string(peer.uid); }

// Called on the arbiter's thread, between polls: answers at once.
class IdentitySource {
 public:
  virtual ~IdentitySource() = default;
  // What `hello` says, with everything replaced of which more is known than that. Says nothing of what it may
  // do.
  virtual std::variant<Hello, Unidentified> Identify(const Peer& peer, const Hello& hello) const = 0;
  // Asked when a client joins, and of all again whenever the arbiter is told to.
  virtual Standing StandingOf(const Member& member) const = 0;
  // On whose account a connection is, before it has said anything: each has so many.
  virtual std::string AccountOf(const Peer& peer) const { return AccountOfUser(peer); }
};

}  // namespace crossover::arbiter
