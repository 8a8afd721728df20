// Tells the arbiter which pod a client belongs to, in place of the client's own word, and what the client may
// do.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/arbiter/mode_rule.h"
#include "deviceplugin/arbiter/observer.h"
#include "deviceplugin/arbiter/peer.h"

namespace crossover::arbiter {

struct Unidentified {
  std::string reason;  // why the client may not join now; it asks again later
};

// Permissions say what a client may do. With kOff the client must leave; with kObserve the arbiter only
// watches it.
struct Permissions {
  Policy policy = Policy::kEnforce;
  std::string reason;  // why `policy` is less than kEnforce
};

// Returns the account of a client if only its user is known.
inline Account AccountOfUser(const Peer& peer) { return {"user " + std::to_string(peer.uid), std::nullopt}; }

// The arbiter's thread calls these functions between polls: implementations must answer at once.
class IdentitySource {
 public:
  virtual ~IdentitySource() = default;
  // Returns `hello` with those fields replaced that the source knows better than the client. Does not decide
  // what the client may do: see PermissionsOf().
  virtual std::variant<Hello, Unidentified> Identify(const Peer& peer, const Hello& hello) const = 0;
  // Returns what the client may do. The arbiter asks when a client joins, and asks again for all clients
  // after Arbiter::Review.
  virtual Permissions PermissionsOf(const Member& member) const = 0;
  // Returns how many MiB of each GPU a process of this account may have, or 0 if it has no limit. Returns
  // nothing if the source does not know yet; the process then asks again.
  virtual std::optional<std::uint32_t> MemoryOf(const Account&) const { return 0; }
  // Returns whether a process of this account, which has the daemon's user ID, may be a signaller. A pod of a
  // job may have that user ID as well.
  virtual bool MaySignal(const Account&) const { return true; }
  // Returns the account that a connection counts against, before the client has sent a message. The number
  // of connections of an account is limited.
  virtual Account AccountOf(const Peer& peer) const { return AccountOfUser(peer); }
};

}  // namespace crossover::arbiter
