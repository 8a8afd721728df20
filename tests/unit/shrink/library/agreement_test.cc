// Tests the votes of a process: its open ports, what it remembers, and communicators that several threads
// make at once.
#include "shrink/library/agreement.h"

#include <gtest/gtest.h>

#include <future>
#include <vector>

namespace crossover::shrink::library {
namespace {

using meeting::Outcome;
using vote::Hello;
using vote::Id;
using vote::Origin;
using vote::PlainReason;
using vote::Reason;
using vote::Start;
using vote::VoterPhase;

constexpr std::uint32_t kRanks = 2;
// No test waits for these where nothing is wrong.
constexpr meeting::Limits kLong{60'000, 60'000, 60'000, 60'000};

std::uint64_t Build() { return 7; }

// Returns an ID as NCCL makes it, but that it has no address: its front differs, its end is zero.
Id IdOf(std::uint8_t number) {
  Id id{};
  id[0] = number;
  return id;
}

Hello HelloOf(const Id& id, std::uint32_t rank) {
  Hello hello{.ranks = kRanks, .rank = rank, .proposal = {0, vote::Codec::kBf16, 16, 64}};
  hello.id = id;
  return hello;
}

class AgreementTest : public ::testing::Test {
 protected:
  Id Offered(std::uint8_t number) {
    Id id = IdOf(number);
    Reason reason;
    first_.Offer(&id, &reason);
    EXPECT_EQ(reason.view(), "");
    return id;
  }
  static Meeting Prepare(Agreement& process, const Id& id, std::uint32_t rank) {
    return process.Prepare(Origin::kInit, id, kRanks, rank);
  }
  // Votes as one rank of a communicator does.
  static Outcome Vote(Agreement& process, const Id& id, std::uint32_t rank, bool ready = true) {
    Meeting meeting = Prepare(process, id, rank);
    EXPECT_EQ(meeting.start, Start::kVotes) << meeting.reason.text;
    return process.Vote(std::move(meeting), HelloOf(id, rank), ready);
  }
  static std::future<Outcome> Voting(Agreement& process, const Id& id, std::uint32_t rank,
                                     bool ready = true) {
    return std::async(std::launch::async, [=, &process] { return Vote(process, id, rank, ready); });
  }

  // These are the votes of two processes. The first one has the ranks 0.
  Agreement first_{kLong, {}, &Build};
  Agreement second_{kLong, {}, &Build};
};

TEST_F(AgreementTest, APortIsTakenOnce) {
  const Id id = Offered(1);
  EXPECT_EQ(Prepare(first_, id, 1).start, Start::kVotes);  // another rank reads it from the ID
  Meeting taken = Prepare(second_, id, 0);
  EXPECT_EQ(taken.reason.why, PlainReason::kNoPort) << "the port is in the process that made the ID";
}

TEST_F(AgreementTest, ARankThatDoesNotVoteClosesItsPort) {
  const Id id = Offered(1);
  EXPECT_EQ(first_.Prepare(Origin::kOther, id, kRanks, 0).start, Start::kPlain);
  EXPECT_EQ(Prepare(first_, id, 0).reason.why, PlainReason::kNoPort);
  EXPECT_EQ(Vote(second_, id, 1).phase, VoterPhase::kPlain);
}

TEST_F(AgreementTest, TheOldestPortClosesWhereThereAreTooMany) {
  constexpr std::uint8_t kMost = 16;
  std::vector<Id> ids;
  for (std::uint8_t i = 0; i <= kMost; ++i) ids.push_back(Offered(i));
  EXPECT_EQ(Prepare(first_, ids[0], 0).start, Start::kPlain);
  for (std::uint8_t i = 1; i <= kMost; ++i)
    EXPECT_EQ(Prepare(first_, ids[i], 0).start, Start::kVotes) << int{i};
}

TEST_F(AgreementTest, AfterARefusalTheProcessSaysNothing) {
  const Id id = Offered(1);
  auto other = Voting(second_, id, 1, false);
  EXPECT_EQ(Vote(first_, id, 0).phase, VoterPhase::kPlain);
  EXPECT_EQ(other.get().phase, VoterPhase::kPlain);
  for (Agreement* process : {&first_, &second_}) {
    Id next = IdOf(2);
    Reason reason;
    process->Offer(&next, &reason);
    EXPECT_EQ(next, IdOf(2));
    const Meeting meeting = Prepare(*process, next, 0);
    EXPECT_EQ(meeting.start, Start::kPlain);
    EXPECT_TRUE(meeting.reason.empty());
  }
}

TEST_F(AgreementTest, ThreadsMakeCommunicatorsAtOnce) {
  constexpr std::uint8_t kAtOnce = 8;
  for (std::uint8_t round = 0; round < 4; ++round) {
    std::vector<std::future<Outcome>> outcomes;
    for (std::uint8_t i = 0; i < kAtOnce; ++i) {
      outcomes.push_back(std::async(std::launch::async, [this, number = round * kAtOnce + i] {
        const Id id = Offered(static_cast<std::uint8_t>(number));
        auto other = Voting(second_, id, 1);
        const Outcome own = Vote(first_, id, 0);
        EXPECT_EQ(other.get().phase, VoterPhase::kNarrow);
        return own;
      }));
    }
    for (auto& outcome : outcomes) EXPECT_EQ(outcome.get().phase, VoterPhase::kNarrow);
  }
}

}  // namespace
}  // namespace crossover::shrink::library
