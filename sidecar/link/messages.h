// What the arbiter says over its socket. The other end is not trusted. Pure.
#pragma once

#include <cstddef>

#include "proto/arbiter_protocol.h"

namespace crossover::link {

// Room for a message, and what it may be.
union Message {
  crossover_header header;
  crossover_welcome welcome;
  crossover_refused refused;
  crossover_notice notice;
};

enum class MessageKind {
  kBroken,     // of another version, or not the length that it says: the connection is of no more use
  kMalformed,  // likewise: of another size than its type has, or a welcome to a slot that no page has
  kUnknown,    // to be skipped
  kWelcome,    // its slot is one of a page
  kRefused,    // its reason is text that ends within it
  kNotice,     // its text likewise
};

// Returns what a message of `bytes` is, of which as many lie in `message` as have room there. Ends text
// of it within its field.
MessageKind Read(Message* message, std::size_t bytes);

}  // namespace crossover::link
