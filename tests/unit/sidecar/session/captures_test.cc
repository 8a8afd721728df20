#include "sidecar/session/captures.h"

#include <gtest/gtest.h>

namespace crossover::session {
namespace {

TEST(CapturesTest, AnEndWithoutABeginIsNone) {
  Captures captures;
  EXPECT_FALSE(captures.End(0x100));
  EXPECT_TRUE(captures.Begin({0x200}));
  EXPECT_FALSE(captures.End(0x100));
  EXPECT_TRUE(captures.any());
  EXPECT_TRUE(captures.End(0x200));
  EXPECT_FALSE(captures.any());
}

TEST(CapturesTest, AStreamIsCapturedOnce) {
  Captures captures;
  EXPECT_TRUE(captures.Begin({0x100}));
  EXPECT_FALSE(captures.Begin({0x100}));
  EXPECT_TRUE(captures.End(0x100));
  EXPECT_FALSE(captures.any());
}

TEST(CapturesTest, EndWithWhatTheyAreIn) {
  Captures captures;
  captures.Begin({0x100, 7, 0});
  captures.Begin({0x200, 8, 1});
  EXPECT_FALSE(captures.EndAll([](const Capture& capture) { return capture.context == 9; }));
  EXPECT_TRUE(captures.EndAll([](const Capture& capture) { return capture.context == 7; }));
  EXPECT_TRUE(captures.any());
  EXPECT_TRUE(captures.EndAll([](const Capture& capture) { return capture.device == 1; }));
  EXPECT_FALSE(captures.any());
}

TEST(CapturesTest, AsManyAsAreKnownComeAndGo) {
  Captures captures;
  for (phase::StreamKey stream = 1; stream <= Captures::kMost; ++stream)
    EXPECT_TRUE(captures.Begin({stream}));
  EXPECT_FALSE(captures.lost());
  for (phase::StreamKey stream = Captures::kMost; stream >= 1; --stream) {
    EXPECT_TRUE(captures.any());
    EXPECT_TRUE(captures.End(stream)) << stream;
  }
  EXPECT_FALSE(captures.any());
  EXPECT_FALSE(captures.End(Captures::kMost));
}

// The end of one of them may pass unseen, so that no count would tell.
TEST(CapturesTest, WhereThereAreMoreAnythingMayBeCapturedForGood) {
  constexpr phase::StreamKey kMany = Captures::kMost + 1;
  Captures captures;
  for (phase::StreamKey stream = 1; stream <= kMany; ++stream) EXPECT_TRUE(captures.Begin({stream}));
  EXPECT_TRUE(captures.lost());
  EXPECT_FALSE(captures.End(kMany + 1));
  for (phase::StreamKey stream = 1; stream <= kMany; ++stream) captures.End(stream);
  EXPECT_TRUE(captures.any());
}

TEST(CapturesTest, OneThatIsLeftCountsUntilItHasEnded) {
  Captures captures;
  EXPECT_FALSE(captures.Leave(0x100));
  captures.Begin({0x100});
  EXPECT_TRUE(captures.Leave(0x100));
  EXPECT_FALSE(captures.Leave(0x100));
  EXPECT_TRUE(captures.any());
  EXPECT_TRUE(captures.Begin({0x100})) << "the number may be that of another stream by now";
  captures.Left();
  EXPECT_TRUE(captures.any());
  EXPECT_TRUE(captures.End(0x100));
  EXPECT_FALSE(captures.any());
}

}  // namespace
}  // namespace crossover::session
