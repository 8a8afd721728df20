#include "deviceplugin/signaller/signaller_messages.h"

#include <gtest/gtest.h>

#include <cstring>

#include "deviceplugin/arbiter/client_messages.h"
#include "turn/signal_memory.h"

namespace crossover::signaller {
namespace {

constexpr std::size_t kMemory = 2 << 20;

template <class Wire>
Message Read(const Wire& wire, std::size_t descriptors) {
  return Parse(std::as_bytes(std::span(&wire, 1)), descriptors, kMemory);
}

std::string ReasonOf(const Message& message) {
  const auto* broken = std::get_if<Broken>(&message);
  return broken == nullptr ? "not broken" : broken->reason;
}

crossover_follow MakeFollow(std::uint32_t kept, std::uint32_t area) {
  return {{CROSSOVER_FOLLOW, sizeof(crossover_follow), CROSSOVER_PROTOCOL_VERSION, 0}, kept, area};
}

TEST(SignallerMessages, AFollowWithKeptMemory) {
  const Message message = Read(MakeFollow(1, 7), 2);
  ASSERT_TRUE(std::holds_alternative<Follow>(message));
  EXPECT_TRUE(std::get<Follow>(message).kept);
  EXPECT_EQ(std::get<Follow>(message).area, 7u);
}

TEST(SignallerMessages, AFollowWithoutMemory) {
  const Message message = Read(MakeFollow(0, 0), 1);
  ASSERT_TRUE(std::holds_alternative<Follow>(message));
  EXPECT_FALSE(std::get<Follow>(message).kept);
}

TEST(SignallerMessages, WhatIsWrongIsNamed) {
  EXPECT_EQ(ReasonOf(Read(MakeFollow(2, 0), 1)), "follow: kept: expected 0 or 1, got 2");
  EXPECT_EQ(ReasonOf(Read(MakeFollow(1, 1), 1)), "follow: descriptors: expected 2, got 1");
  EXPECT_EQ(ReasonOf(Read(MakeFollow(0, 0), 0)), "follow: descriptors: expected 1, got 0");
  EXPECT_EQ(ReasonOf(Read(MakeFollow(0, 0), 2)), "follow: descriptors: expected 1, got 2");
  EXPECT_EQ(ReasonOf(Read(MakeFollow(1, 2048), 2)), "follow: area: expected 0 to 2047, got 2048");
  EXPECT_EQ(ReasonOf(Read(MakeFollow(0, 3), 1)), "follow: area: expected 0 without kept memory, got 3");
  crossover_follow other = MakeFollow(0, 0);
  other.header.version = 9;
  EXPECT_EQ(ReasonOf(Read(other, 1)), "message: version: expected 1, got 9");
  other = MakeFollow(0, 0);
  other.header.bytes = 25;
  EXPECT_EQ(ReasonOf(Read(other, 1)), "message: size in the header: expected 24, got 25");
  EXPECT_EQ(ReasonOf(Parse({}, 0, kMemory)), "message: size: expected at least 16, got 0");
}

TEST(SignallerMessages, ARest) {
  crossover_rest wire{{CROSSOVER_REST, sizeof wire, CROSSOVER_PROTOCOL_VERSION, 0}, 1, 0};
  EXPECT_TRUE(std::get<Rest>(Read(wire, 0)).rest);
  wire.rest = 0;
  EXPECT_FALSE(std::get<Rest>(Read(wire, 0)).rest);
  wire.rest = 2;
  EXPECT_EQ(ReasonOf(Read(wire, 0)), "rest: rest: expected 0 or 1, got 2");
  EXPECT_EQ(MakeHello("GPU-1", true).rests, 1u);
  EXPECT_EQ(MakeHello("GPU-1", false).rests, 0u);
}

TEST(SignallerMessages, ARefusalIsPrintable) {
  crossover_refused wire = arbiter::MakeRefused("no\nturns");
  const Message message = Read(wire, 0);
  ASSERT_TRUE(std::holds_alternative<Refused>(message));
  EXPECT_EQ(std::get<Refused>(message).reason, "no?turns");
  std::memset(wire.reason, 'x', sizeof wire.reason);
  EXPECT_EQ(std::get<Refused>(Read(wire, 0)).reason.size(), sizeof wire.reason);
}

TEST(SignallerMessages, ALaterTypeIsSkipped) {
  const crossover_header header{99, sizeof header, CROSSOVER_PROTOCOL_VERSION, 0};
  EXPECT_TRUE(std::holds_alternative<Unknown>(Read(header, 0)));
}

TEST(SignallerMessages, Areas) {
  EXPECT_EQ(turn::AreasOf(0), 0u);
  EXPECT_EQ(turn::AreasOf(1024), 0u);
  EXPECT_EQ(turn::AreasOf(kMemory), 2047u);
}

}  // namespace
}  // namespace crossover::signaller
