// Decodes the messages of the arbiter. The other end of the socket is not trusted. Pure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "proto/arbiter_protocol.h"
#include "proto/signaller_protocol.h"

namespace crossover::arbiter_client {

// A Message has room for any message that the arbiter sends.
union Message {
  crossover_header header;
  crossover_welcome welcome;
  crossover_limit limit;
  crossover_refused refused;
  crossover_notice notice;
  crossover_offer offer;
  crossover_proof proven;
};

// A ToArbiter is a message that the client sends when it has something to say.
union ToArbiter {
  crossover_header header;
  crossover_calls calls;
  crossover_reductions reductions;
  crossover_want_signals want;
  crossover_proof prove;
};

// A MessageKind says what a message is and what its reader does with it.
enum class MessageKind {
  kBroken,     // another version, or not the length that it says: the reader closes the connection
  kMalformed,  // wrong size for its type, or a slot that no page has: the reader closes the connection
  kUnknown,    // another type of message, which the reader skips
  kWelcome,    // welcome to a slot that the page has
  kLimit,      // limit of memory
  kRefused,    // refusal, whose reason ends within its field
  kNotice,     // notice, whose text ends within its field
  kOffer,      // offer of signals
  kProven,     // answer of a signaller
};

// Returns the kind of a message of `bytes` bytes. `message` holds as many of them as it has room for. Ends
// the text of a message within its field.
MessageKind Read(Message* message, std::size_t bytes);

// Returns the header of a message that is `bytes` long with its header. `type` is of enum crossover_message
// or enum crossover_signaller_message.
crossover_header MakeHeader(std::uint32_t type, std::size_t bytes);

}  // namespace crossover::arbiter_client
