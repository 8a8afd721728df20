#include "deviceplugin/signals/signal_messages.h"

#include <cstring>

#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/signals/wire.h"
#include "turn/signal_memory.h"

namespace crossover::signals {
namespace {

PeerMessage ParseHello(std::span<const std::byte> bytes) {
  std::string error;
  const auto wire = Copy<crossover_signaller_hello>(bytes, "signaller hello", &error);
  if (!wire) return Broken{error};
  const std::string uuid(wire->gpu_uuid, ::strnlen(wire->gpu_uuid, sizeof wire->gpu_uuid));
  if (!arbiter::ValidGpuUuid(uuid)) {
    return Broken{
        base::Refusal("signaller hello: gpu_uuid", "\"GPU-\" and a lower-case UUID", base::Shown(uuid))};
  }
  if (wire->signal_version != CROSSOVER_SIGNAL_VERSION) {
    return Broken{Wrong("signaller hello: signal_version", std::to_string(CROSSOVER_SIGNAL_VERSION),
                        wire->signal_version)};
  }
  if (wire->rests > 1) return Broken{Wrong("signaller hello: rests", "0 or 1", wire->rests)};
  return SignallerHello{uuid, wire->rests == 1};
}

PeerMessage ParseWant(std::span<const std::byte> bytes) {
  std::string error;
  const auto wire = Copy<crossover_want_signals>(bytes, "want signals", &error);
  if (!wire) return Broken{error};
  if (wire->want > 1) return Broken{Wrong("want signals: want", "0 or 1", wire->want)};
  return WantSignals{wire->want == 1};
}

PeerMessage ParseProve(std::span<const std::byte> bytes) {
  std::string error;
  const auto wire = Copy<crossover_proof>(bytes, "prove", &error);
  if (!wire) return Broken{error};
  if (wire->number == 0) return Broken{Wrong("prove: number", "another number than 0", 0)};
  return Prove{wire->area, wire->number};
}

SignallerMessage ParseSignals(std::span<const std::byte> bytes, std::size_t descriptors) {
  std::string error;
  const auto wire = Copy<crossover_signals>(bytes, "signals", &error);
  if (!wire) return Broken{error};
  const std::uint32_t areas = turn::AreasOf(wire->bytes);
  if (wire->area == 0 || wire->area > areas)
    return Broken{Wrong("signals: area", "1 to " + std::to_string(areas), wire->area)};
  if (descriptors != 1) return Broken{Wrong("signals: descriptors", "1", descriptors)};
  return Signals{wire->area, wire->bytes};
}

SignallerMessage ParseRefused(std::span<const std::byte> bytes) {
  std::string error;
  const auto wire = Copy<crossover_refused>(bytes, "refused", &error);
  if (!wire) return Broken{error};
  return Refused{ReasonIn(*wire)};
}

SignallerMessage ParseProven(std::span<const std::byte> bytes) {
  std::string error;
  const auto wire = Copy<crossover_proof>(bytes, "proven", &error);
  if (!wire) return Broken{error};
  if (wire->written > 1) return Broken{Wrong("proven: written", "0 or 1", wire->written)};
  return Proven{wire->client, {wire->area, wire->number}, wire->written == 1};
}

struct StateWords {
  const char* name;
  const char* text;
};
constexpr StateWords kStates[] = {
    {"given", "signals are given"},
    {"ask", "there are signals for clients that ask"},
    {"no_signaller", "no signaller follows its turnstile"},
    {"still", "its signaller stands still"},
    {"kinds_meet", "a client takes turns without signals"},
    {"apart", "the client has a turnstile of its own"},
    {"refused", "its signaller refuses the turnstile"},
    {"erased", "signals are erased again and again"},
};
static_assert(std::size(kStates) == CROSSOVER_OFFER_STATES);

}  // namespace

PeerMessage ParsePeer(std::span<const std::byte> bytes) {
  std::string error;
  const auto header = HeaderIn(bytes, &error);
  if (!header) return Broken{error};
  if (header->type == CROSSOVER_SIGNALLER_HELLO) return ParseHello(bytes);
  if (header->type == CROSSOVER_WANT_SIGNALS) return ParseWant(bytes);
  if (header->type == CROSSOVER_PROVE) return ParseProve(bytes);
  return Unknown{};
}

SignallerMessage ParseSignaller(std::span<const std::byte> bytes, std::size_t descriptors) {
  std::string error;
  const auto header = HeaderIn(bytes, &error);
  if (!header) return Broken{error};
  if (header->type == CROSSOVER_SIGNALS) return ParseSignals(bytes, descriptors);
  if (header->type == CROSSOVER_REFUSED) return ParseRefused(bytes);
  if (header->type == CROSSOVER_PROVEN) return ParseProven(bytes);
  return Unknown{};
}

crossover_offer MakeOffer(crossover_offer_state state, std::uint32_t area, std::uint32_t bytes) {
  crossover_offer wire{};
  wire.header = HeaderOf<crossover_offer>(CROSSOVER_OFFER);
  wire.state = state;
  if (state != CROSSOVER_OFFER_GIVEN) return wire;
  wire.area = area;
  wire.bytes = bytes;
  wire.signal_version = CROSSOVER_SIGNAL_VERSION;
  return wire;
}

crossover_follow MakeFollow(bool kept, std::uint32_t area) {
  return {HeaderOf<crossover_follow>(CROSSOVER_FOLLOW), kept ? 1u : 0u, area};
}

crossover_rest MakeRest(bool rest) { return {HeaderOf<crossover_rest>(CROSSOVER_REST), rest ? 1u : 0u, 0}; }

crossover_proof MakeProve(std::uint64_t client, std::uint32_t line, const Prove& proof) {
  return {HeaderOf<crossover_proof>(CROSSOVER_PROVE), client, proof.area, line, proof.number, 0};
}

crossover_proof MakeProven(const Prove& proof, bool written) {
  return {HeaderOf<crossover_proof>(CROSSOVER_PROVEN), 0, proof.area, 0, proof.number, written ? 1u : 0u};
}

const char* NameOf(crossover_offer_state state) { return kStates[state].name; }
const char* TextOf(crossover_offer_state state) { return kStates[state].text; }

}  // namespace crossover::signals
