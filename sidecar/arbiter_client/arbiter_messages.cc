#include "sidecar/arbiter_client/arbiter_messages.h"

#include <cstdint>

namespace crossover::arbiter_client {
namespace {

template <std::size_t kSize>
void EndWithin(char (&text)[kSize]) {
  text[kSize - 1] = '\0';
}

}  // namespace

MessageKind Read(Message* message, std::size_t bytes) {
  const crossover_header& header = message->header;
  if (bytes < sizeof header || header.bytes != bytes || header.version != CROSSOVER_PROTOCOL_VERSION) {
    return MessageKind::kBroken;
  }
  switch (header.type) {
    case CROSSOVER_WELCOME:
      if (bytes != sizeof message->welcome || message->welcome.slot >= CROSSOVER_MAX_CLIENTS) break;
      return MessageKind::kWelcome;
    case CROSSOVER_LIMIT:
      if (bytes != sizeof message->limit) break;
      return MessageKind::kLimit;
    case CROSSOVER_REFUSED:
      if (bytes != sizeof message->refused) break;
      EndWithin(message->refused.reason);
      return MessageKind::kRefused;
    case CROSSOVER_NOTICE:
      if (bytes != sizeof message->notice) break;
      EndWithin(message->notice.text);
      return MessageKind::kNotice;
    case CROSSOVER_OFFER:
      if (bytes != sizeof message->offer) break;
      return MessageKind::kOffer;
    case CROSSOVER_PROVEN:
      if (bytes != sizeof message->proven) break;
      return MessageKind::kProven;
    default:
      return MessageKind::kUnknown;
  }
  return MessageKind::kMalformed;
}

crossover_header MakeHeader(std::uint32_t type, std::size_t bytes) {
  return {type, static_cast<std::uint32_t>(bytes), CROSSOVER_PROTOCOL_VERSION, 0};
}

}  // namespace crossover::arbiter_client
