// Wraps TCP for the vote. No function raises a signal, throws, or waits beyond its deadline. Deadlines are
// times of base::MonotonicNs(). Thread-safe, but a MessageReader is its owner's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "common/base/fd.h"
#include "shrink/meeting/tail.h"

namespace crossover::shrink::meeting {

using base::UniqueFd;

// Returns the time that is `ms` from now.
std::int64_t DeadlineIn(std::uint32_t ms);

// Returns the address at which other pods reach this one: that in NCCL's words if this machine has it, else
// the first that is up and not loopback, IPv4 before IPv6, else loopback.
Address ChooseAddress(const vote::Id& id);

// Listens at the address, on a port that the system chooses, and sets `place`. Returns none on failure, and
// sets `reason`.
UniqueFd Listen(const Address& address, Place* place, Reason* reason);

// Returns a connection that waits to be accepted, or none. Never blocks.
UniqueFd Accept(int listener);

// Connects until the deadline. Returns none on failure.
UniqueFd Connect(const Place& place, std::int64_t deadline);
// Returns whether a connection is one of the socket with itself. Linux makes such a one where the port of a
// process of the same host is closed and connect() takes the same port for its own end.
bool IsWithItself(int socket);

// Waits until the socket can be read, or has ended. Returns false once the deadline has passed.
bool AwaitInput(int socket, std::int64_t deadline);

// Returns the milliseconds until the deadline, for poll(): 0 once it has passed.
int MsUntil(std::int64_t deadline);

// Sends all of the bytes, which are few, without waiting. Returns false if not all of them went.
bool SendWhole(int socket, std::span<const std::byte> bytes);
template <class Wire>
bool SendMessage(int socket, const Wire& wire) {
  return SendWhole(socket, std::as_bytes(std::span(&wire, 1)));
}

// Reads and drops what has arrived. Returns false if the connection has ended.
bool Drain(int socket);

// A MessageReader cuts what a socket brings into messages, and never reads beyond the message that it is at.
class MessageReader {
 public:
  enum class State : std::uint8_t {
    kPart,     // more has to come
    kMessage,  // message() is whole; the next Read() begins another
    kBroken,   // message() has a head that begins no message
    kEnded     // the connection has ended
  };
  // Reads what is there, without waiting.
  State Read(int socket);
  std::span<const std::byte> message() const { return std::span(bytes_).first(filled_); }

 private:
  std::byte bytes_[vote::kLongestMessage];
  std::size_t filled_ = 0;
  bool whole_ = false;
};

}  // namespace crossover::shrink::meeting
