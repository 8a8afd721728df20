#include "deviceplugin/arbiter/client_messages.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace crossover::arbiter {
namespace {

using ::testing::HasSubstr;

constexpr char kUuid[] = "GPU-0123abcd-0000-0000-0000-00000000000f";

crossover_hello GoodHello() {
  crossover_hello hello{};
  hello.header = {CROSSOVER_HELLO, sizeof(hello), CROSSOVER_PROTOCOL_VERSION, 0};
  std::strcpy(hello.gang, "llama-7b/run.3");
  std::strcpy(hello.gpu_uuid, kUuid);
  hello.gang_size = 8;
  hello.rank = 7;
  hello.pid = 42;
  hello.transport = CROSSOVER_TRANSPORT_GPU_GATES;
  return hello;
}

template <class Wire>
Message ParseWire(const Wire& wire) {
  return Parse(std::as_bytes(std::span(&wire, 1)));
}

std::string Reason(const Message& message) {
  const auto* broken = std::get_if<Broken>(&message);
  return broken == nullptr ? "" : broken->reason;
}

TEST(MessagesTest, TakesAGoodHello) {
  const Message message = ParseWire(GoodHello());
  const auto* hello = std::get_if<Hello>(&message);
  ASSERT_NE(hello, nullptr) << Reason(message);
  EXPECT_EQ(hello->gang, "llama-7b/run.3");
  EXPECT_EQ(hello->gpu_uuid, kUuid);
  EXPECT_EQ(hello->gang_size, 8u);
  EXPECT_EQ(hello->rank, 7u);
  EXPECT_EQ(hello->pid, 42u);
  EXPECT_EQ(hello->transport, CROSSOVER_TRANSPORT_GPU_GATES);
}

struct Spoiled {
  const char* name;
  std::function<void(crossover_hello*)> spoil;
  const char* reason;
};

class SpoiledHelloTest : public ::testing::TestWithParam<Spoiled> {};

TEST(MessagesTest, AGangMayBeLeftToTheDaemon) {
  crossover_hello wire = GoodHello();
  wire.gang[0] = '\0';
  const Message message = Parse(std::as_bytes(std::span(&wire, 1)));
  ASSERT_TRUE(std::holds_alternative<Hello>(message));
  EXPECT_EQ(std::get<Hello>(message).gang, "");
}

TEST_P(SpoiledHelloTest, IsBrokenWithItsReason) {
  crossover_hello hello = GoodHello();
  GetParam().spoil(&hello);
  EXPECT_THAT(Reason(ParseWire(hello)), HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    All, SpoiledHelloTest,
    ::testing::Values(
        Spoiled{"Version", [](auto* hello) { hello->header.version = 2; },
                "protocol version: expected 1, got 2"},
        Spoiled{"HeaderSize", [](auto* hello) { hello->header.bytes -= 1; },
                "message: size in its header: expected"},
        Spoiled{"OpenEndedGang", [](auto* hello) { std::memset(hello->gang, 'a', sizeof(hello->gang)); },
                "gang: expected at most 127 printable ASCII characters without spaces, got a text without an "
                "end"},
        Spoiled{"SpaceInGang", [](auto* hello) { hello->gang[2] = ' '; }, "gang:"},
        Spoiled{"ControlInGang", [](auto* hello) { hello->gang[2] = '\n'; }, "gang:"},
        Spoiled{"HighBitInGang", [](auto* hello) { hello->gang[2] = '\xc3'; }, "gang:"},
        Spoiled{"OpenEndedUuid",
                [](auto* hello) { std::memset(hello->gpu_uuid, 'a', sizeof(hello->gpu_uuid)); }, "gpu_uuid:"},
        Spoiled{"UpperCaseUuid", [](auto* hello) { hello->gpu_uuid[5] = 'A'; },
                "gpu_uuid: expected \"GPU-\" and a lower-case UUID, got GPU-0A"},
        Spoiled{"Rank", [](auto* hello) { hello->rank = 8; },
                "rank: expected less than gang_size (8), got 8"},
        Spoiled{"Priority", [](auto* hello) { hello->priority = 3; }, "priority: expected 0 to 2, got 3"},
        Spoiled{"SmallSlowdown", [](auto* hello) { hello->max_slowdown = 1049; },
                "max_slowdown: expected 0, or 1050 to 10000 thousandths, got 1049"},
        Spoiled{"LargeSlowdown", [](auto* hello) { hello->max_slowdown = 10'001; }, "max_slowdown:"},
        Spoiled{"Transport", [](auto* hello) { hello->transport = 5; }, "transport: expected 0 to 4, got 5"}),
    [](const auto& instance) { return instance.param.name; });

TEST(MessagesTest, RankIsFreeWhereTheSizeIsUnknown) {
  crossover_hello hello = GoodHello();
  hello.gang_size = 0;
  hello.rank = 12;
  EXPECT_TRUE(std::holds_alternative<Hello>(ParseWire(hello)));
}

TEST(MessagesTest, BytesAfterTheNamesDoNotMatter) {
  crossover_hello hello = GoodHello();
  hello.gang[sizeof(hello.gang) - 1] = 'x';
  EXPECT_TRUE(std::holds_alternative<Hello>(ParseWire(hello)));
}

TEST(MessagesTest, UuidsHaveOneShape) {
  EXPECT_TRUE(ValidGpuUuid(kUuid));
  EXPECT_FALSE(ValidGpuUuid(""));
  EXPECT_FALSE(ValidGpuUuid("GPU-"));
  EXPECT_FALSE(ValidGpuUuid(std::string(kUuid) + "0"));
  EXPECT_FALSE(ValidGpuUuid("MIG-0123abcd-0000-0000-0000-00000000000f"));
  EXPECT_FALSE(ValidGpuUuid("GPU-0123abcd00000-0000-0000-00000000000f"));
}

TEST(MessagesTest, TakesAProfile) {
  crossover_profile wire{};
  wire.header = {CROSSOVER_PROFILE, sizeof(wire), CROSSOVER_PROTOCOL_VERSION, 0};
  wire.iterations = 1ull << 40;
  wire.turns_per_period = 2;
  wire.transport = CROSSOVER_TRANSPORT_HOST_GATES;
  wire.input_wait = 15'000;
  const Message message = ParseWire(wire);
  const auto* profile = std::get_if<Profile>(&message);
  ASSERT_NE(profile, nullptr) << Reason(message);
  EXPECT_EQ(profile->iterations, 1ull << 40);
  EXPECT_EQ(profile->turns_per_period, 2u);
  EXPECT_EQ(profile->input_wait, 15'000u);
  wire.transport = 9;
  EXPECT_THAT(Reason(ParseWire(wire)), HasSubstr("transport:"));
}

crossover_calls GoodCalls() {
  crossover_calls wire{};
  wire.header = {CROSSOVER_CALLS, sizeof wire, CROSSOVER_PROTOCOL_VERSION, 0};
  wire.first = 5;
  wire.total = 7;
  wire.count = 2;
  wire.call[0] = {
      .communicator = 9, .bytes = 4096, .ranks = 4, .rank = 3, .function = CROSSOVER_SEND, .peer = 2};
  wire.call[1] = {.communicator = 9,
                  .bytes = 1,
                  .ranks = 4,
                  .rank = 3,
                  .function = CROSSOVER_ALL_REDUCE,
                  .peer = CROSSOVER_NO_PEER};
  return wire;
}

TEST(MessagesTest, TakesCalls) {
  const Message message = ParseWire(GoodCalls());
  const auto* calls = std::get_if<Calls>(&message);
  ASSERT_NE(calls, nullptr) << Reason(message);
  EXPECT_EQ(calls->first, 5u);
  EXPECT_EQ(calls->total, 7u);
  ASSERT_EQ(calls->calls.size(), 2u);
  EXPECT_EQ(calls->calls[0].bytes, 4096u);
  EXPECT_EQ(calls->calls[1].function, CROSSOVER_ALL_REDUCE);
}

TEST(MessagesTest, TakesReductionsWithAnyLevelAndReason) {
  crossover_reductions wire{};
  wire.header = {CROSSOVER_REDUCTIONS, sizeof wire, CROSSOVER_PROTOCOL_VERSION, 0};
  wire.asked = 77;
  wire.reason = 1u << 31;
  wire.plain[CROSSOVER_PLAIN_REASONS_MAX - 1] = 3;
  const Message message = ParseWire(wire);
  const auto* reductions = std::get_if<Reductions>(&message);
  ASSERT_NE(reductions, nullptr) << Reason(message);
  EXPECT_EQ(std::memcmp(reductions, &wire, sizeof wire), 0);
}

TEST(MessagesTest, RefusesReductionsOfAnotherSize) {
  crossover_hello wire{};
  wire.header = {CROSSOVER_REDUCTIONS, sizeof wire, CROSSOVER_PROTOCOL_VERSION, 0};
  EXPECT_EQ(Reason(ParseWire(wire)), "reductions: size: expected 192, got 224");
}

// An older daemon does this with a message that it does not know.
TEST(MessagesTest, SkipsAMessageOfALaterType) {
  crossover_reductions wire{};
  wire.header = {CROSSOVER_REDUCTIONS + 1, sizeof wire, CROSSOVER_PROTOCOL_VERSION, 0};
  EXPECT_TRUE(std::holds_alternative<Unknown>(ParseWire(wire)));
}

struct SpoiledCall {
  const char* name;
  std::function<void(crossover_calls*)> spoil;
  const char* reason;
};

class SpoiledCallsTest : public ::testing::TestWithParam<SpoiledCall> {};

TEST_P(SpoiledCallsTest, AreBrokenWithTheirReason) {
  crossover_calls wire = GoodCalls();
  GetParam().spoil(&wire);
  EXPECT_THAT(Reason(ParseWire(wire)), HasSubstr(GetParam().reason));
}

INSTANTIATE_TEST_SUITE_P(
    All, SpoiledCallsTest,
    ::testing::Values(
        SpoiledCall{"Total", [](auto* wire) { wire->total = 41; }, "total: expected at most 40, got 41"},
        SpoiledCall{"NoCall", [](auto* wire) { wire->count = 0; }, "count: expected 1 to 5, got 0"},
        SpoiledCall{"Count", [](auto* wire) { wire->count = 6; }, "count: expected 1 to 5, got 6"},
        SpoiledCall{"First", [](auto* wire) { wire->first = 7; },
                    "first: expected calls within the total (7)"},
        SpoiledCall{"PastTheEnd", [](auto* wire) { wire->first = 6; },
                    "first: expected calls within the total"},
        SpoiledCall{"Overflow", [](auto* wire) { wire->first = 0xfffffffe; }, "first: expected calls within"},
        SpoiledCall{"Communicator", [](auto* wire) { wire->call[1].communicator = 0; },
                    "communicator: expected a number other than 0, got 0"},
        SpoiledCall{"OneRank", [](auto* wire) { wire->call[0].ranks = 1; },
                    "ranks: expected 2 to 1000000, got 1"},
        SpoiledCall{"ManyRanks", [](auto* wire) { wire->call[0].ranks = 1000001; },
                    "ranks: expected 2 to 1000000"},
        SpoiledCall{"Rank", [](auto* wire) { wire->call[0].rank = 4; }, "rank: expected a rank below"},
        SpoiledCall{"Function", [](auto* wire) { wire->call[0].function = 11; },
                    "function: expected 1 to 10, got 11"},
        SpoiledCall{"Peer", [](auto* wire) { wire->call[0].peer = 4; }, "peer: expected a rank below"},
        SpoiledCall{"Size", [](auto* wire) { wire->header.bytes = sizeof *wire - 1; }, "size in its header"}),
    [](const auto& instance) { return instance.param.name; });

TEST(MessagesTest, SizesOfKnownTypesAreExact) {
  crossover_hello hello = GoodHello();
  hello.header.bytes = sizeof(hello) - 4;
  EXPECT_THAT(Reason(Parse(std::as_bytes(std::span(&hello, 1)).first(sizeof(hello) - 4))),
              HasSubstr("hello: size: expected"));
  EXPECT_THAT(Reason(Parse({})), HasSubstr("message: size: expected at least 16, got 0"));
}

TEST(MessagesTest, AnAskIsAHeader) {
  const crossover_header ask = {CROSSOVER_ASK, sizeof(ask), CROSSOVER_PROTOCOL_VERSION, 0};
  EXPECT_TRUE(std::holds_alternative<Ask>(ParseWire(ask)));
  EXPECT_EQ(MakeLimit(512).memory_mib, 512u);
  EXPECT_EQ(MakeLimit(0).known, 1u);
  EXPECT_EQ(MakeLimit(std::nullopt).known, 0u);
}

TEST(MessagesTest, UnknownTypesAreSkipped) {
  const crossover_header later = {77, sizeof(later), CROSSOVER_PROTOCOL_VERSION, 0};
  EXPECT_TRUE(std::holds_alternative<Unknown>(ParseWire(later)));
  // A message that only the arbiter sends is unknown if it comes from a client.
  EXPECT_TRUE(std::holds_alternative<Unknown>(ParseWire(MakeWelcome(0, 0))));
}

TEST(MessagesTest, LongReasonsAreCutAndTerminated) {
  const crossover_refused refused = MakeRefused(std::string(1000, 'r'));
  EXPECT_EQ(std::strlen(refused.reason), sizeof(refused.reason) - 1);
  EXPECT_EQ(refused.header.bytes, sizeof(refused));
  EXPECT_EQ(MakeWelcome(7, 512).slot, 7u);
  EXPECT_EQ(MakeWelcome(7, 512).memory_mib, 512u);
}

}  // namespace
}  // namespace crossover::arbiter
