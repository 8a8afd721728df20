#include "sidecar/phase/tracker.h"

#include <gtest/gtest.h>

namespace crossover::phase {
namespace {

constexpr StreamKey kCompute = 0x100;
constexpr StreamKey kSide = 0x200;
constexpr StreamKey kRelay = 0x300;
constexpr EventKey kEvent = 0x1000;
constexpr EventKey kOther = 0x2000;

class TrackerTest : public ::testing::Test {
 protected:
  void SetUp() override { tracker_.OnLaunch(kCompute); }

  Tracker tracker_;
};

TEST_F(TrackerTest, WaitingForAnEventBehindACollectiveJoinsIt) {
  EXPECT_EQ(tracker_.OnCollective(kSide, 1), 0u);
  tracker_.OnRecord(kEvent, kSide);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 1u);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 0u) << "joined already";
}

TEST_F(TrackerTest, AllStreamsWaitForAnEventBehindACollective) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  EXPECT_EQ(tracker_.OnAllWait(kEvent), 1u);
  EXPECT_EQ(tracker_.OnAllWait(kEvent), 0u) << "joined already";
}

TEST_F(TrackerTest, AnEventBehindAllStreamsIsBehindTheLastCollective) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnCollective(kRelay, 2);
  tracker_.OnRecordAll(kEvent);
  tracker_.OnCollective(kSide, 3);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 2u);
}

TEST_F(TrackerTest, AllStreamsThatWaitWithoutComputePassItOn) {
  Tracker tracker;
  tracker.OnCollective(kSide, 1);
  tracker.OnRecord(kEvent, kSide);
  tracker.OnRecord(kOther, kRelay);
  EXPECT_EQ(tracker.OnAllWait(kEvent), 0u);
  tracker.OnLaunch(kSide);
  EXPECT_EQ(tracker.OnHostWaitStream(kSide), 1u);
}

TEST_F(TrackerTest, ACallerThatSawTheEndMayHaveJoined) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  tracker_.OnRecord(kOther, kSide);
  EXPECT_EQ(tracker_.OnCallerSawEvent(kOther), 0u) << "not the first event behind the collective";
  EXPECT_FALSE(tracker_.MayHaveJoined());
  EXPECT_EQ(tracker_.OnCallerSawEvent(kEvent), 1u);
  EXPECT_EQ(tracker_.OnCallerSawEvent(kEvent), 0u) << "seen already";
  EXPECT_TRUE(tracker_.MayHaveJoined());
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 1u) << "it has joined nothing";
  EXPECT_FALSE(tracker_.MayHaveJoined());
}

TEST_F(TrackerTest, TheEndOfAKernelOfNcclIsTheUsersFirstEvent) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnNcclKernel(kSide);
  tracker_.OnRecord(kOther, kSide);  // NCCL's own
  tracker_.OnRecord(kEvent, kSide);
  EXPECT_EQ(tracker_.OnCallerSawEvent(kOther), 0u);
  EXPECT_EQ(tracker_.OnCallerSawEvent(kEvent), 1u);
}

TEST_F(TrackerTest, EventRecordedBeforeTheCollectiveDoesNotJoinIt) {
  tracker_.OnRecord(kEvent, kSide);
  tracker_.OnCollective(kSide, 1);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 0u);
}

TEST_F(TrackerTest, EventRecordedAnewElsewhereIsForgotten) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  tracker_.OnRecord(kEvent, kCompute);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 0u);
}

TEST_F(TrackerTest, CollectiveOnAComputeStreamIsJoinedAtOnce) {
  EXPECT_EQ(tracker_.OnCollective(kCompute, 1), 1u);
}

TEST_F(TrackerTest, WaitOfAStreamWithoutComputeIsPassedOn) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  EXPECT_EQ(tracker_.OnStreamWait(kRelay, kEvent), 0u);
  tracker_.OnRecord(kOther, kRelay);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kOther), 1u);
}

// A stream comes after everything that it waited for, in whatever order it waited.
TEST_F(TrackerTest, AnOlderEventTakesNothingFromWhatAStreamWaitedFor) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  tracker_.OnCollective(kSide, 2);
  tracker_.OnRecord(kOther, kSide);
  tracker_.OnStreamWait(kRelay, kOther);
  tracker_.OnStreamWait(kRelay, kEvent);
  constexpr EventKey kRelayed = 0x3000;
  tracker_.OnRecord(kRelayed, kRelay);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kRelayed), 2u);
}

// ncclLaunchFinish records the first event, and the user records the second one behind it.
TEST_F(TrackerTest, NcclLooksAtItsOwnEventAndJoinsNothing) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnNcclKernel(kSide);
  tracker_.OnRecord(kOther, kSide);
  tracker_.OnRecord(kEvent, kSide);
  EXPECT_EQ(tracker_.OnHostWaitEvent(kOther), 0u) << "NCCL's";
  EXPECT_EQ(tracker_.OnHostWaitEvent(kEvent), 1u) << "the user's";
}

TEST_F(TrackerTest, StreamsWaitForNcclsOwnEventAsForAnyOther) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnNcclKernel(kSide);
  tracker_.OnRecord(kOther, kSide);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kOther), 1u);
}

TEST_F(TrackerTest, HostWaitsJoin) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  EXPECT_EQ(tracker_.OnHostWaitEvent(kEvent), 1u);
  tracker_.OnCollective(kSide, 2);
  EXPECT_EQ(tracker_.OnHostWaitStream(kSide), 2u);
  tracker_.OnCollective(kSide, 3);
  EXPECT_EQ(tracker_.OnHostWaitContext(), 3u);
  EXPECT_EQ(tracker_.OnHostWaitContext(), 0u);
}

TEST_F(TrackerTest, OlderCollectiveAfterANewerOneIsNothingNew) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  tracker_.OnCollective(kSide, 2);
  tracker_.OnRecord(kOther, kSide);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kOther), 2u);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 0u);
}

TEST_F(TrackerTest, DestroyedHandlesAreForgotten) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  tracker_.ForgetEvent(kEvent);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 0u);
  tracker_.ForgetStream(kCompute);
  EXPECT_FALSE(tracker_.IsCompute(kCompute));
}

TEST_F(TrackerTest, TellsThatItIsFullAndStaysAlive) {
  StreamKey stream = 1;
  for (; stream <= 100; ++stream) tracker_.OnLaunch(stream * 0x1000);
  EXPECT_FALSE(tracker_.full());
  for (; stream <= 129; ++stream) tracker_.OnLaunch(stream * 0x1000);
  EXPECT_TRUE(tracker_.full());
  EXPECT_TRUE(tracker_.IsCompute(kCompute));
}

TEST_F(TrackerTest, StreamsThatTellNothingMakeWay) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  tracker_.OnStreamWait(kCompute, kEvent);
  tracker_.OnCollective(kSide, 2);
  tracker_.OnRecord(kEvent, kSide);
  tracker_.OnStreamWait(kRelay, kEvent);
  tracker_.OnCollective(kSide, 3);
  tracker_.OnRecord(kOther, kSide);
  tracker_.OnStreamWait(kCompute, kOther);
  // Each of these comes after a collective that compute has joined.
  for (StreamKey stream = 1; stream <= 10 * Tracker::kStreams; ++stream) {
    tracker_.OnStreamWait(stream * 0x1000, kOther);
  }
  EXPECT_FALSE(tracker_.full());
  tracker_.OnCollective(kSide, 4);
  tracker_.OnRecord(kOther, kSide);
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kOther), 4u);
}

TEST_F(TrackerTest, RecoversOnceThereIsRoomAgainAndNothingIsOpen) {
  tracker_.OnCollective(kSide, 1);
  tracker_.OnRecord(kEvent, kSide);
  for (StreamKey stream = 1; stream <= 2 * Tracker::kStreams; ++stream) tracker_.OnLaunch(stream * 0x1000);
  ASSERT_TRUE(tracker_.full());
  EXPECT_FALSE(tracker_.Recover()) << "they are all alive";
  tracker_.ForgetStreams([](StreamKey key) { return key >= 0x1000; });
  EXPECT_FALSE(tracker_.Recover()) << "whether the collective was joined is not known";
  EXPECT_EQ(tracker_.OnStreamWait(kCompute, kEvent), 1u);
  EXPECT_TRUE(tracker_.Recover());
  EXPECT_FALSE(tracker_.full());
}

TEST_F(TrackerTest, AnyNumberOfEventsBehindJoinedCollectivesFits) {
  Sequence sequence = 0;
  for (int iteration = 0; iteration < 2000; ++iteration) {
    for (EventKey event = 1; event <= 40; ++event) {
      tracker_.OnCollective(kSide, ++sequence);
      tracker_.OnRecord(event * 0x40, kSide);
    }
    EXPECT_EQ(tracker_.OnStreamWait(kCompute, 40 * 0x40), sequence);
  }
  EXPECT_FALSE(tracker_.full());
}

TEST_F(TrackerTest, TooManyEventsBehindUnjoinedCollectivesAreNoticed) {
  tracker_.OnCollective(kSide, 1);
  EventKey event = 1;
  for (; event <= 600; ++event) tracker_.OnRecord(event * 0x40, kSide);
  EXPECT_FALSE(tracker_.full());
  for (; event <= 1025; ++event) tracker_.OnRecord(event * 0x40, kSide);
  EXPECT_TRUE(tracker_.full());
}

TEST(MainStreamTest, WithAMainStreamOnlyThatOneAndTheHostJoin) {
  Tracker tracker;
  for (int i = 0; i < 3; ++i) tracker.OnLaunch(0x100);
  tracker.OnLaunch(0x300);
  EXPECT_EQ(tracker.ChooseMain(), 0x100u) << "it has the most launches";
  tracker.OnCollective(0x200, 1);
  tracker.OnRecord(0x1000, 0x200);
  EXPECT_TRUE(tracker.MainWouldJoin(0x1000));
  EXPECT_EQ(tracker.OnStreamWait(0x300, 0x1000), 0u);
  EXPECT_EQ(tracker.OnStreamWait(0x100, 0x1000), 1u);
  EXPECT_FALSE(tracker.MainWouldJoin(0x1000)) << "it comes after that one already";
  tracker.OnCollective(0x300, 2);
  EXPECT_EQ(tracker.OnHostWaitContext(), 2u);
}

TEST(MainStreamTest, WhereAJobWarmedUpIsNotItsMainStream) {
  Tracker tracker;
  for (int i = 0; i < 10'000; ++i) tracker.OnLaunch(0x300);
  for (Sequence sequence = 1; sequence <= 16 * Tracker::kRecent; ++sequence) {
    tracker.OnLaunch(0x100);
    tracker.OnCollective(0x200, sequence);
  }
  EXPECT_EQ(tracker.ChooseMain(), 0x100u);
  tracker.ForgetMain();
  for (Sequence sequence = 1; sequence <= 100 * Tracker::kRecent; ++sequence)
    tracker.OnCollective(0x200, 1000 * Tracker::kRecent + sequence);
  EXPECT_EQ(tracker.ChooseMain(), 0x100u) << "launches are not counted while the period is known";
}

TEST(MainStreamTest, AStreamThatIsNewHasNoStart) {
  Tracker tracker;
  for (int i = 0; i < 2; ++i) tracker.OnLaunch(0x100);
  tracker.OnCollective(0x200, 64);
  tracker.OnLaunch(0x300);
  EXPECT_EQ(tracker.ChooseMain(), 0x100u) << "each has one launch, and the first comes first";
}

TEST(MainStreamTest, LaunchesCountHalfAfterSixtyFourCollectives) {
  for (const Sequence sequence : {32u, 64u}) {
    Tracker tracker;
    for (int i = 0; i < 3; ++i) tracker.OnLaunch(0x100);
    tracker.OnCollective(0x200, sequence);
    for (int i = 0; i < 2; ++i) tracker.OnLaunch(0x300);
    EXPECT_EQ(tracker.ChooseMain(), sequence == 64 ? 0x300u : 0x100u);
  }
}

TEST(MainStreamTest, TheMainStreamStaysUntilItIsForgotten) {
  Tracker tracker;
  EXPECT_EQ(tracker.ChooseMain(), 0u) << "nothing was launched";
  tracker.OnLaunch(0x100);
  EXPECT_EQ(tracker.ChooseMain(), 0x100u);
  for (int i = 0; i < 3; ++i) tracker.OnLaunch(0x300);
  EXPECT_EQ(tracker.ChooseMain(), 0x100u);
  tracker.ForgetStream(0x100);
  EXPECT_EQ(tracker.ChooseMain(), 0x300u);
  tracker.ForgetMain();
  for (int i = 0; i < 5; ++i) tracker.OnLaunch(0x400);
  EXPECT_EQ(tracker.ChooseMain(), 0x400u);
}

}  // namespace
}  // namespace crossover::phase
