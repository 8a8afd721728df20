// Tests what the arbiter reads of signallers and of clients that ask for signals.
#include "deviceplugin/signals/signal_messages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <set>

#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/signals/wire.h"

namespace crossover::signals {
namespace {

template <class Wire>
PeerMessage Peer(const Wire& wire) {
  return ParsePeer(std::as_bytes(std::span(&wire, 1)));
}

template <class Wire>
SignallerMessage Signaller(const Wire& wire, std::size_t descriptors = 0) {
  return ParseSignaller(std::as_bytes(std::span(&wire, 1)), descriptors);
}

template <class Message>
std::string ReasonOf(const Message& message) {
  const auto* broken = std::get_if<Broken>(&message);
  return broken == nullptr ? "not broken" : broken->reason;
}

crossover_signaller_hello Hello(const char* uuid) {
  crossover_signaller_hello wire{};
  wire.header = HeaderOf<crossover_signaller_hello>(CROSSOVER_SIGNALLER_HELLO);
  std::strncpy(wire.gpu_uuid, uuid, sizeof wire.gpu_uuid);
  wire.signal_version = CROSSOVER_SIGNAL_VERSION;
  return wire;
}

constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000000";

TEST(SignalsMessages, AHelloNamesItsGpu) {
  const PeerMessage message = Peer(Hello(kGpu));
  ASSERT_TRUE(std::holds_alternative<SignallerHello>(message));
  EXPECT_EQ(std::get<SignallerHello>(message).gpu_uuid, kGpu);
}

TEST(SignalsMessages, ABadHelloIsNamed) {
  EXPECT_EQ(ReasonOf(Peer(Hello("GPU\n"))),
            "signaller hello: gpu_uuid: expected \"GPU-\" and a lower-case UUID, got GPU?");
  const std::string longest(60, 'x');
  EXPECT_NE(ReasonOf(Peer(Hello(longest.c_str()))), "not broken") << "the text does not end in its field";
  crossover_signaller_hello later = Hello(kGpu);
  later.signal_version = 2;
  EXPECT_EQ(ReasonOf(Peer(later)), "signaller hello: signal_version: expected 1, got 2");
}

TEST(SignalsMessages, AHelloMaySayThatItRests) {
  crossover_signaller_hello wire = Hello(kGpu);
  EXPECT_FALSE(std::get<SignallerHello>(Peer(wire)).rests) << "as older versions say";
  wire.rests = 1;
  EXPECT_TRUE(std::get<SignallerHello>(Peer(wire)).rests);
  wire.rests = 2;
  EXPECT_EQ(ReasonOf(Peer(wire)), "signaller hello: rests: expected 0 or 1, got 2");
  EXPECT_EQ(MakeRest(true).rest, 1u);
  EXPECT_EQ(MakeRest(false).rest, 0u);
}

TEST(SignalsMessages, WantsAndProofs) {
  crossover_want_signals want{HeaderOf<crossover_want_signals>(CROSSOVER_WANT_SIGNALS), 1, 0};
  EXPECT_TRUE(std::get<WantSignals>(Peer(want)).want);
  want.want = 2;
  EXPECT_EQ(ReasonOf(Peer(want)), "want signals: want: expected 0 or 1, got 2");
  const auto proof = std::get<Prove>(Peer(MakeProve(0, 0, {3, 99})));
  EXPECT_EQ(proof.area, 3u);
  EXPECT_EQ(proof.number, 99u);
  EXPECT_EQ(ReasonOf(Peer(MakeProve(0, 0, {3, 0}))), "prove: number: expected another number than 0, got 0");
}

TEST(SignalsMessages, AWrongSizeIsNamed) {
  const crossover_header header{CROSSOVER_PROVE, sizeof header, CROSSOVER_PROTOCOL_VERSION, 0};
  EXPECT_EQ(ReasonOf(Peer(header)), "prove: size: expected 40, got 16");
  EXPECT_EQ(ReasonOf(ParsePeer({})), "message: size: expected at least 16, got 0");
}

TEST(SignalsMessages, LaterTypesAreSkipped) {
  const crossover_header header{99, sizeof header, CROSSOVER_PROTOCOL_VERSION, 0};
  EXPECT_TRUE(std::holds_alternative<Unknown>(Peer(header)));
  EXPECT_TRUE(std::holds_alternative<Unknown>(Signaller(header)));
}

TEST(SignalsMessages, MemoryHasAnAreaAndOneDescriptor) {
  const crossover_signals wire{HeaderOf<crossover_signals>(CROSSOVER_SIGNALS), 5, 2 << 20};
  const auto signals = std::get<Signals>(Signaller(wire, 1));
  EXPECT_EQ(signals.area, 5u);
  EXPECT_EQ(signals.bytes, 2u << 20);
  EXPECT_EQ(ReasonOf(Signaller(wire, 0)), "signals: descriptors: expected 1, got 0");
  EXPECT_EQ(ReasonOf(Signaller(wire, 2)), "signals: descriptors: expected 1, got 2");
  crossover_signals other = wire;
  other.area = 0;
  EXPECT_EQ(ReasonOf(Signaller(other, 1)), "signals: area: expected 1 to 2047, got 0");
  other.area = 2048;
  EXPECT_EQ(ReasonOf(Signaller(other, 1)), "signals: area: expected 1 to 2047, got 2048");
}

TEST(SignalsMessages, AnAnswerToAProof) {
  crossover_proof wire = MakeProven({3, 99}, true);
  wire.client = 12;
  const auto proven = std::get<Proven>(Signaller(wire));
  EXPECT_EQ(proven.client, 12u);
  EXPECT_EQ(proven.proof.number, 99u);
  EXPECT_TRUE(proven.written);
  wire.written = 2;
  EXPECT_EQ(ReasonOf(Signaller(wire)), "proven: written: expected 0 or 1, got 2");
}

TEST(SignalsMessages, ARefusalIsPrintable) {
  EXPECT_EQ(std::get<Refused>(Signaller(arbiter::MakeRefused("no\nmemory"))).reason, "no?memory");
}

TEST(SignalsMessages, AnOfferThatGivesNothingNamesNoArea) {
  const crossover_offer none = MakeOffer(CROSSOVER_OFFER_STILL, 7, 2 << 20);
  EXPECT_EQ(none.state, static_cast<std::uint32_t>(CROSSOVER_OFFER_STILL));
  EXPECT_EQ(none.area, 0u);
  EXPECT_EQ(none.bytes, 0u);
  EXPECT_EQ(MakeOffer(CROSSOVER_OFFER_GIVEN, 7, 2 << 20).area, 7u);
}

TEST(SignalsMessages, EachStateHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::uint32_t state = 0; state < CROSSOVER_OFFER_STATES; ++state)
    names.insert(NameOf(static_cast<crossover_offer_state>(state)));
  EXPECT_EQ(names.size(), CROSSOVER_OFFER_STATES);
}

}  // namespace
}  // namespace crossover::signals
