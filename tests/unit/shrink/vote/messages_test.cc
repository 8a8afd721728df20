#include "shrink/vote/messages.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace crossover::shrink::vote {
namespace {

template <class Wire>
std::span<const std::byte> BytesOfWire(const Wire& wire) {
  return std::as_bytes(std::span(&wire, 1));
}

template <class Message>
std::string ReasonOf(const Message& message) {
  const auto* broken = std::get_if<Broken>(&message);
  return broken == nullptr ? "not broken" : std::string(broken->reason.view());
}
template <class Wire>
std::string AtCollector(const Wire& wire) {
  return ReasonOf(ParseForCollector(BytesOfWire(wire)));
}
template <class Wire>
std::string AtVoter(const Wire& wire) {
  return ReasonOf(ParseForVoter(BytesOfWire(wire)));
}

Hello MakeOwn() {
  Hello hello{.ranks = 4, .rank = 3, .proposal = {0x1234, Codec::kQ8, 8, 512}};
  for (std::size_t i = 0; i < kIdBytes; ++i) hello.id[i] = static_cast<std::uint8_t>(i);
  return hello;
}

Verdict MakeNarrow() {
  return {.choice = Choice::kNarrow,
          .rank = 3,
          .codec = Codec::kAdaptive,
          .level = 4,
          .budget_mib = 256,
          .reason = {}};
}

TEST(VoteMessages, AHelloComesAsItWasSaid) {
  const Hello said = MakeOwn();
  const WireHello wire = MakeHello(said);
  Reason reason;
  EXPECT_EQ(BytesOf(BytesOfWire(wire), &reason), sizeof wire);
  const ToCollector message = ParseForCollector(BytesOfWire(wire));
  ASSERT_TRUE(std::holds_alternative<Hello>(message)) << ReasonOf(message);
  const auto& hello = std::get<Hello>(message);
  EXPECT_EQ(hello.id, said.id);
  EXPECT_EQ(hello.ranks, 4u);
  EXPECT_EQ(hello.rank, 3u);
  EXPECT_EQ(hello.proposal, said.proposal);
}

TEST(VoteMessages, AVerdictComesAsItWasSaid) {
  const ToVoter narrow = ParseForVoter(BytesOfWire(MakeVerdict(MakeNarrow())));
  ASSERT_TRUE(std::holds_alternative<Verdict>(narrow)) << ReasonOf(narrow);
  EXPECT_EQ(std::get<Verdict>(narrow).choice, Choice::kNarrow);
  EXPECT_EQ(std::get<Verdict>(narrow).rank, 3u);
  EXPECT_EQ(std::get<Verdict>(narrow).codec, Codec::kAdaptive);
  EXPECT_EQ(std::get<Verdict>(narrow).level, 4u);
  EXPECT_EQ(std::get<Verdict>(narrow).budget_mib, 256u);
  Verdict said;
  said.rank = 2;
  said.reason = As(PlainReason::kUnreadyRank, MakeReason("rank %u: no\nfile", 1));
  const ToVoter plain = ParseForVoter(BytesOfWire(MakeVerdict(said)));
  ASSERT_TRUE(std::holds_alternative<Verdict>(plain)) << ReasonOf(plain);
  EXPECT_EQ(std::get<Verdict>(plain).choice, Choice::kPlain);
  EXPECT_EQ(std::get<Verdict>(plain).rank, 2u);
  EXPECT_EQ(std::get<Verdict>(plain).reason.view(), "rank 1: no?file");
  EXPECT_EQ(std::get<Verdict>(plain).reason.why, PlainReason::kUnreadyRank);
}

TEST(VoteMessages, AReasonEndsWithinItsField) {
  WireVerdict wire = MakeVerdict({});
  std::memset(wire.reason, 'x', sizeof wire.reason);
  const ToVoter message = ParseForVoter(BytesOfWire(wire));
  EXPECT_EQ(std::get<Verdict>(message).reason.view().size(), kReasonBytes - 1);
  EXPECT_EQ(MakeReason("%0200d", 1).view().size(), kReasonBytes - 1);
}

TEST(VoteMessages, GreetingsAndNoesOfAllVersionsAreRead) {
  WireGreeting greeting = MakeGreeting();
  greeting.head.version = 9;
  EXPECT_EQ(std::get<Greeting>(ParseForVoter(BytesOfWire(greeting))).version, 9u);
  WireNo no = MakeNo(MakeOwn(), Why::kOtherVersion);
  no.head.version = 9;
  no.why = 77;
  const ToCollector message = ParseForCollector(BytesOfWire(no));
  ASSERT_TRUE(std::holds_alternative<No>(message));
  EXPECT_EQ(std::get<No>(message).id, MakeOwn().id);
  EXPECT_EQ(std::get<No>(message).rank, 3u);
  EXPECT_EQ(std::get<No>(message).why, 77u);
}

TEST(VoteMessages, AHeadThatIsWrongIsNamed) {
  const WireHello good = MakeHello(MakeOwn());
  WireHello wire = good;
  wire.head.magic = 0x20544547;  // "GET "
  EXPECT_EQ(AtCollector(wire), "message of the vote: magic: expected 5456534f, got 20544547");
  wire = good;
  wire.head.version = 3;
  EXPECT_EQ(AtCollector(wire),
            "message of the vote: version: expected 2, got 3; run one version of the library on all ranks");
  wire = good;
  wire.head.type = 0;
  EXPECT_EQ(AtCollector(wire), "message of the vote: type: expected 1 to 4, got 0");
  wire.head.type = 5;
  EXPECT_EQ(AtCollector(wire), "message of the vote: type: expected 1 to 4, got 5");
  wire = good;
  wire.head.bytes = 0xffffffff;
  EXPECT_EQ(AtCollector(wire), "message of the vote: size in its head: expected 176, got 4294967295");
  EXPECT_EQ(ReasonOf(ParseForCollector({})), "message of the vote: size: expected at least 16, got 0");
  EXPECT_EQ(ReasonOf(ParseForVoter(BytesOfWire(good).first(15))),
            "message of the vote: size: expected at least 16, got 15");
  EXPECT_EQ(ReasonOf(ParseForCollector(BytesOfWire(good).first(175))),
            "message of the vote: size: expected 176, got 175");
}

TEST(VoteMessages, AMessageAtTheWrongEndIsNamed) {
  EXPECT_EQ(AtCollector(MakeGreeting()), "message of the vote: type: expected hello (2) or no (3), got 1");
  EXPECT_EQ(AtCollector(MakeVerdict({})), "message of the vote: type: expected hello (2) or no (3), got 4");
  EXPECT_EQ(AtVoter(MakeHello(MakeOwn())),
            "message of the vote: type: expected greeting (1) or verdict (4), got 2");
  EXPECT_EQ(AtVoter(MakeNo(MakeOwn(), Why::kNotReady)),
            "message of the vote: type: expected greeting (1) or verdict (4), got 3");
}

TEST(VoteMessages, AFieldOfAHelloThatIsWrongIsNamed) {
  const auto with = [](std::uint32_t WireHello::*field, std::uint32_t value) {
    WireHello wire = MakeHello(MakeOwn());
    wire.*field = value;
    return AtCollector(wire);
  };
  EXPECT_EQ(with(&WireHello::ranks, 1), "hello: ranks: expected 2 to 1048576, got 1");
  EXPECT_EQ(with(&WireHello::ranks, 0xffffffff), "hello: ranks: expected 2 to 1048576, got 4294967295");
  EXPECT_EQ(with(&WireHello::rank, 0), "hello: rank: expected 1 to 3, got 0");
  EXPECT_EQ(with(&WireHello::rank, 4), "hello: rank: expected 1 to 3, got 4");
  EXPECT_EQ(with(&WireHello::codec, 0), "hello: codec: expected 1 to 3, got 0");
  EXPECT_EQ(with(&WireHello::codec, 4), "hello: codec: expected 1 to 3, got 4");
  EXPECT_EQ(with(&WireHello::level, 0), "hello: level: expected 1 to 32, got 0");
  EXPECT_EQ(with(&WireHello::level, 33), "hello: level: expected 1 to 32, got 33");
  EXPECT_EQ(with(&WireHello::budget_mib, 0), "hello: budget: expected 1 to 4294967295, got 0");
  EXPECT_EQ(with(&WireHello::reserved, 1), "hello: reserved: expected 0, got 1");
}

TEST(VoteMessages, AFieldOfAVerdictThatIsWrongIsNamed) {
  const auto with = [](const Verdict& verdict, std::uint32_t WireVerdict::*field, std::uint32_t value) {
    WireVerdict wire = MakeVerdict(verdict);
    wire.*field = value;
    return AtVoter(wire);
  };
  const Verdict narrow = MakeNarrow();
  EXPECT_EQ(with({}, &WireVerdict::choice, 0), "verdict of rank 0: choice: expected 1 to 2, got 0");
  EXPECT_EQ(with({}, &WireVerdict::choice, 3), "verdict of rank 0: choice: expected 1 to 2, got 3");
  EXPECT_EQ(with({}, &WireVerdict::rank, kMostRanks),
            "verdict of rank 0: rank: expected 0 to 1048575, got 1048576");
  EXPECT_EQ(with(narrow, &WireVerdict::rank, 0), "verdict of rank 0: rank: expected 1 to 1048575, got 0");
  EXPECT_EQ(with(narrow, &WireVerdict::codec, 4), "verdict of rank 0: codec: expected 1 to 3, got 4");
  EXPECT_EQ(with(narrow, &WireVerdict::level, 0), "verdict of rank 0: level: expected 1 to 32, got 0");
  EXPECT_EQ(with(narrow, &WireVerdict::budget_mib, 0),
            "verdict of rank 0: budget: expected 1 to 4294967295, got 0");
  EXPECT_EQ(with({}, &WireVerdict::codec, 1), "verdict of rank 0: codec: expected 0, got 1");
  EXPECT_EQ(with({}, &WireVerdict::level, 1), "verdict of rank 0: level: expected 0, got 1");
  EXPECT_EQ(with({}, &WireVerdict::budget_mib, 1), "verdict of rank 0: budget: expected 0, got 1");
  EXPECT_EQ(with(narrow, &WireVerdict::why, 1), "verdict of rank 0: why: expected 0, got 1");
  EXPECT_EQ(with({}, &WireVerdict::why, UINT32_MAX), "not broken") << "rank 0 may know more reasons";
}

TEST(VoteMessages, CodecsHaveTheNamesOfTheAnnotation) {
  EXPECT_STREQ(Name(Codec::kBf16), "bf16");
  EXPECT_STREQ(Name(Codec::kQ8), "q8");
  EXPECT_STREQ(Name(Codec::kAdaptive), "adaptive");
  EXPECT_STREQ(Name(static_cast<Codec>(9)), "?");
}

}  // namespace
}  // namespace crossover::shrink::vote
