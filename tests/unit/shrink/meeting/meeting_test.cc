// Tests the vote over sockets: rank 0 and other ranks in threads of this process, and strangers.
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <functional>
#include <future>
#include <thread>
#include <vector>

#include "shrink/meeting/gather.h"
#include "shrink/meeting/speak.h"

namespace crossover::shrink::meeting {
namespace {

using vote::Hello;
using vote::VoterPhase;

constexpr std::int64_t kForever = INT64_MAX;
// No test waits for these where nothing is wrong.
constexpr Limits kLong{60'000, 60'000, 60'000, 60'000};

Hello HelloOf(std::uint32_t rank, std::uint32_t ranks = 3) {
  Hello hello{.ranks = ranks, .rank = rank, .proposal = {7, vote::Codec::kBf16, 16, 100 + rank}};
  hello.id.fill('i');
  return hello;
}

// A Vote is one of rank 0, which runs in a thread of its own.
class Vote {
 public:
  explicit Vote(std::uint32_t ranks = 3, const Limits& limits = kLong, const Watcher& watcher = {}) {
    Reason reason;
    UniqueFd listener = Listen(FromIpv4({127, 0, 0, 1}), &place_, &reason);
    EXPECT_TRUE(listener) << reason.text;
    outcome_ = std::async(std::launch::async, [=, listener = std::move(listener)]() mutable {
      return Gather(std::move(listener), HelloOf(0, ranks), limits, watcher);
    });
  }
  const Place& place() const { return place_; }
  Outcome Wait() { return outcome_.get(); }

 private:
  Place place_;
  std::future<Outcome> outcome_;
};

std::future<Outcome> Speaking(const Vote& vote, const Hello& hello, bool ready = true,
                              const Limits& limits = kLong, const Watcher& watcher = {}) {
  return std::async(std::launch::async,
                    [=, place = vote.place()] { return Speak(place, hello, ready, limits, watcher); });
}

void ExpectPlain(const Outcome& outcome, const std::string& reason) {
  EXPECT_EQ(outcome.phase, VoterPhase::kPlain);
  EXPECT_EQ(outcome.reason.view(), reason);
}

void ExpectNarrow(const Outcome& outcome) {
  EXPECT_EQ(outcome.phase, VoterPhase::kNarrow);
  EXPECT_EQ(outcome.budget_mib, 100U);
}

// Returns a connection of a stranger that has read the greeting.
UniqueFd Stranger(const Vote& vote) {
  UniqueFd socket = Connect(vote.place(), kForever);
  MessageReader reader;
  while (reader.Read(socket.get()) == MessageReader::State::kPart) AwaitInput(socket.get(), kForever);
  return socket;
}

// Waits until the other end has closed the connection.
void AwaitEnd(const UniqueFd& socket) {
  while (Drain(socket.get())) AwaitInput(socket.get(), kForever);
}

TEST(MeetingTest, AllSayTheSame) {
  Vote vote;
  auto first = Speaking(vote, HelloOf(1)), second = Speaking(vote, HelloOf(2));
  for (const Outcome& outcome : {vote.Wait(), first.get(), second.get()}) ExpectNarrow(outcome);
}

TEST(MeetingTest, ManyRanks) {
  constexpr std::uint32_t kRanks = 64;
  Vote vote(kRanks);
  std::vector<std::future<Outcome>> others;
  for (std::uint32_t rank = 1; rank < kRanks; ++rank) others.push_back(Speaking(vote, HelloOf(rank, kRanks)));
  ExpectNarrow(vote.Wait());
  for (auto& other : others) ExpectNarrow(other.get());
}

TEST(MeetingTest, OneSaysSomethingElse) {
  Vote vote;
  Hello other = HelloOf(2);
  other.proposal.level = 8;
  auto first = Speaking(vote, HelloOf(1)), second = Speaking(vote, other);
  for (const Outcome& outcome : {vote.Wait(), second.get()})
    ExpectPlain(outcome, "hello of rank 2: level: expected 16, got 8");
  EXPECT_EQ(first.get().phase, VoterPhase::kPlain);  // it may come after the verdict
}

TEST(MeetingTest, OneIsNotReady) {
  Vote vote;
  auto first = Speaking(vote, HelloOf(1)), second = Speaking(vote, HelloOf(2), false);
  ExpectPlain(vote.Wait(), "rank 2: expected hello, got no: it is not ready (its log says why)");
  EXPECT_EQ(first.get().phase, VoterPhase::kPlain);
  ExpectPlain(second.get(), "this rank: expected ready, got not ready");
}

TEST(MeetingTest, OneDoesNotCome) {
  Vote vote(3, {.collector_ms = 100});
  auto first = Speaking(vote, HelloOf(1));
  EXPECT_EQ(vote.Wait().phase, VoterPhase::kPlain);
  EXPECT_EQ(first.get().phase, VoterPhase::kPlain);
}

TEST(MeetingTest, NoProcessListens) {
  Place place;
  Reason reason;
  Listen(FromIpv4({127, 0, 0, 1}), &place, &reason).Reset();
  ExpectPlain(
      Speak(place, HelloOf(1), true, kLong, {}),
      "port of rank 0: expected a connection, got none; rank 0 runs plain or has ended, or a NetworkPolicy "
      "forbids it");
}

TEST(MeetingTest, NoProcessGreets) {
  Place place;
  Reason reason;
  const UniqueFd listener = Listen(FromIpv4({127, 0, 0, 1}), &place, &reason);
  EXPECT_EQ(Speak(place, HelloOf(1), true, {.greeting_ms = 50}, {}).phase, VoterPhase::kPlain);
}

TEST(MeetingTest, StrangersAreShutOutAndTheVoteGoesOn) {
  Vote vote;
  const UniqueFd silent = Stranger(vote), garbage = Stranger(vote), wrong_end = Stranger(vote),
                 half = Stranger(vote), rude = Stranger(vote);
  SendWhole(garbage.get(), std::as_bytes(std::span("GET / HTTP/1.1\r\nHost: a\r\n\r\n")));
  AwaitEnd(garbage);
  SendMessage(wrong_end.get(), vote::MakeGreeting());
  AwaitEnd(wrong_end);
  SendWhole(half.get(), std::as_bytes(std::span("half a mes")));
  Hello elsewhere = HelloOf(1);
  elsewhere.id.fill('e');
  auto lost = Speaking(vote, elsewhere);
  ExpectPlain(lost.get(), "hello of rank 1: communicator: expected this one's ID, got another");
  auto first = Speaking(vote, HelloOf(1)), second = Speaking(vote, HelloOf(2));
  for (const Outcome& outcome : {vote.Wait(), first.get(), second.get()}) ExpectNarrow(outcome);
  AwaitEnd(silent);
}

TEST(MeetingTest, AMessageMayComeInPieces) {
  Vote vote(2);
  const UniqueFd rank = Stranger(vote);
  const vote::WireHello hello = vote::MakeHello(HelloOf(1, 2));
  for (const std::byte& byte : std::as_bytes(std::span(&hello, 1)))
    SendWhole(rank.get(), std::span(&byte, 1));
  MessageReader reader;
  while (reader.Read(rank.get()) == MessageReader::State::kPart) AwaitInput(rank.get(), kForever);
  EXPECT_TRUE(std::holds_alternative<vote::Verdict>(vote::ParseForVoter(reader.message())));
  ::shutdown(rank.get(), SHUT_RDWR);
  ExpectNarrow(vote.Wait());
}

TEST(MeetingTest, HelloTwice) {
  for (const bool same_connection : {true, false}) {
    Vote vote;
    const UniqueFd one = Stranger(vote), other = Stranger(vote);
    SendMessage(one.get(), vote::MakeHello(HelloOf(1)));
    SendMessage(same_connection ? one.get() : other.get(), vote::MakeHello(HelloOf(1)));
    for (const UniqueFd* socket : {&one, &other}) {
      MessageReader reader;
      while (reader.Read(socket->get()) == MessageReader::State::kPart) AwaitInput(socket->get(), kForever);
      ::shutdown(socket->get(), SHUT_RDWR);
    }
    ExpectPlain(vote.Wait(), "hello of rank 1: expected one, got two");
  }
}

TEST(MeetingTest, ARankThatIsLostAfterItsHello) {
  Vote vote;
  UniqueFd rank = Stranger(vote);
  SendMessage(rank.get(), vote::MakeHello(HelloOf(1)));
  rank.Reset();
  ExpectPlain(vote.Wait(), "rank 1: expected a connection until the verdict, got its end");
}

// Cuts the connection of a rank once it has said hello.
void Cut(void*, Moment moment, int socket) {
  if (moment == Moment::kSaidHello) ::shutdown(socket, SHUT_RDWR);
}

TEST(MeetingTest, ARankThatSaidHelloAndHasNoVerdictFails) {
  Vote vote;
  const Outcome outcome = Speaking(vote, HelloOf(1), true, kLong, {&Cut, nullptr}).get();
  EXPECT_EQ(outcome.phase, VoterPhase::kFailed);
  EXPECT_EQ(outcome.reason.view(), "rank 0: expected a verdict, got the end of the connection");
  EXPECT_EQ(vote.Wait().phase, VoterPhase::kPlain);
}

TEST(MeetingTest, ARankWaitsForTheVerdictForAWhile) {
  Vote vote(3, {.collector_ms = 60'000, .linger_ms = 1});
  EXPECT_EQ(Speaking(vote, HelloOf(1), true, {.verdict_ms = 50}).get().phase, VoterPhase::kFailed);
  EXPECT_EQ(vote.Wait().phase, VoterPhase::kPlain);
}

TEST(MeetingTest, TheAddressIsOneOfThisMachine) {
  vote::Id id{};
  const Address own = ChooseAddress(id);
  Place place;
  Reason reason;
  EXPECT_TRUE(Listen(own, &place, &reason)) << reason.text;
  EXPECT_NE(place.port, 0);
  const std::uint8_t loopback[] = {2, 0, 0, 0, 127, 0, 0, 1};
  std::copy(std::begin(loopback), std::end(loopback), id.begin() + 8);
  EXPECT_EQ(ChooseAddress(id), FromIpv4({127, 0, 0, 1}));
  id[12] = 1;
  EXPECT_EQ(ChooseAddress(id), own);
}

// Linux makes such a connection where the port is closed and is free for connect() to choose.
TEST(MeetingTest, AConnectionOfASocketWithItselfIsFound) {
  Place place;
  Reason reason;
  const UniqueFd listener = Listen(FromIpv4({127, 0, 0, 1}), &place, &reason);
  const UniqueFd other = Connect(place, kForever);
  ASSERT_TRUE(other);
  EXPECT_FALSE(IsWithItself(other.get()));
  const UniqueFd own(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* at = reinterpret_cast<sockaddr*>(&address);
  ASSERT_EQ(::bind(own.get(), at, size), 0);
  ASSERT_EQ(::getsockname(own.get(), at, &size), 0);
  ASSERT_EQ(::connect(own.get(), at, size), 0);
  EXPECT_TRUE(IsWithItself(own.get()));
  EXPECT_FALSE(IsWithItself(-1));
}

}  // namespace
}  // namespace crossover::shrink::meeting
