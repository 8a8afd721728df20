// Lets another part of the daemon serve messages that the arbiter itself does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/base/fd.h"
#include "deviceplugin/arbiter/connection.h"
#include "deviceplugin/arbiter/observer.h"

namespace crossover::arbiter {

// A Mail is a message for one client. A client that does not take it loses it.
struct Mail {
  std::uint64_t client = 0;  // Member::id
  std::vector<std::byte> bytes;
  std::shared_ptr<const base::UniqueFd> descriptor;  // goes along; null: none
};

// The arbiter's thread calls all functions: implementations must neither block nor do I/O that may block.
class Extension {
 public:
  virtual ~Extension() = default;
  // Opens what fd() watches. Returns false, with the reason in `error`, on failure.
  virtual bool Open(Observer* observer, std::string* error) = 0;
  // Returns a descriptor that is readable when OnReady() is due.
  virtual int fd() const = 0;
  virtual void OnReady(turn::Time now) = 0;
  // Does what is due at `now`. Returns when it must be called again, or turn::kNever.
  virtual turn::Time Tick(turn::Time now) = 0;
  // Reports a client that has got its slot, and one that has gone.
  virtual void OnJoin(const std::shared_ptr<const Member>& member) = 0;
  virtual void OnGone(const Member& member) = 0;
  // Handles a message of a type that the arbiter does not know; it is skipped if the extension does not know
  // it either. Returns false if the connection has to end, with the reason in `why`. An empty reason says
  // that the extension has a duplicate of the socket and serves the peer from now on.
  virtual bool OnMessage(const Connection& connection, const Unknown& message, std::string* why) = 0;
  // Returns the messages that have come up since the last call.
  virtual std::vector<Mail> TakeMail() = 0;
};

}  // namespace crossover::arbiter
