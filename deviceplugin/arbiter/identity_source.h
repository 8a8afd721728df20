// Who a client is, where its own word is not enough.
#pragma once

#include <string>
#include <variant>

#include "deviceplugin/arbiter/messages.h"
#include "deviceplugin/arbiter/peer.h"

namespace crossover::arbiter {

struct Unidentified {
  std::string reason;  // why it may not join now; it will ask again
};

// Called on the arbiter's thread, between polls: answers at once.
class IdentitySource {
 public:
  virtual ~IdentitySource() = default;
  // What `hello` says, with everything replaced of which more is known than that.
  virtual std::variant<Hello, Unidentified> Identify(const Peer& peer, const Hello& hello) const = 0;
};

}  // namespace crossover::arbiter
