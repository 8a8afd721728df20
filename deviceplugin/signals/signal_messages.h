// Parses what signallers and clients send to the arbiter about signals, and makes its messages. Pure: takes
// bytes, returns values or a reason.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "proto/signaller_protocol.h"

namespace crossover::signals {

// No message that the arbiter reads from a signaller is longer.
inline constexpr std::size_t kLongestMessage = sizeof(crossover_refused);

struct Unknown {};  // a message of another type; it is skipped
struct Broken {     // an invalid message; it ends the connection
  std::string reason;
};

// A PeerMessage comes over a connection that is not that of a signaller.
struct SignallerHello {
  std::string gpu_uuid;
  bool rests = false;  // the signaller does not use the GPU, and waits until it may
};
struct WantSignals {
  bool want = false;
};
struct Prove {
  std::uint32_t area = 0;
  std::uint32_t number = 0;
};
using PeerMessage = std::variant<SignallerHello, WantSignals, Prove, Unknown, Broken>;

// A SignallerMessage comes from a signaller.
struct Signals {
  std::uint32_t area = 0;
  std::uint32_t bytes = 0;
};
struct Refused {
  std::string reason;  // printable
};
struct Proven {
  std::uint64_t client = 0;
  Prove proof;
  bool written = false;
};
using SignallerMessage = std::variant<Signals, Refused, Proven, Unknown, Broken>;

// These functions return the message in `bytes`. REQUIRES: `bytes` is one whole message. A message of a
// signaller came with `descriptors` descriptors.
PeerMessage ParsePeer(std::span<const std::byte> bytes);
SignallerMessage ParseSignaller(std::span<const std::byte> bytes, std::size_t descriptors);

// These functions return the message in wire format. `area` and `bytes` have no meaning in an Offer that
// gives nothing.
crossover_offer MakeOffer(crossover_offer_state state, std::uint32_t area, std::uint32_t bytes);
crossover_follow MakeFollow(bool kept, std::uint32_t area);
crossover_rest MakeRest(bool rest);
crossover_proof MakeProve(std::uint64_t client, std::uint32_t line, const Prove& proof);
crossover_proof MakeProven(const Prove& proof, bool written);

// Returns the name of a state, for metrics, and what it says of a GPU, for people.
const char* NameOf(crossover_offer_state state);
const char* TextOf(crossover_offer_state state);

}  // namespace crossover::signals
