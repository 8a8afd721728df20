#include "sidecar/session/captures.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

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

// They end in every way in which captures end, and none is mistaken for another.
TEST(CapturesTest, HoweverManyComeAndGo) {
  constexpr phase::StreamKey kMany = 10'000;
  Captures captures;
  for (int round = 0; round < 2; ++round) {
    for (phase::StreamKey stream = 1; stream <= kMany; ++stream)
      ASSERT_TRUE(captures.Begin({stream << 4, stream % 3})) << stream;
    for (phase::StreamKey stream = 1; stream <= kMany; ++stream)
      ASSERT_FALSE(captures.Begin({stream << 4})) << stream;
    EXPECT_TRUE(captures.EndAll([](const Capture& capture) { return capture.context == 1; }));
    for (phase::StreamKey stream = kMany; stream >= 1; --stream) {
      ASSERT_TRUE(captures.any()) << stream;
      if (stream % 3 == 0) {
        ASSERT_TRUE(captures.Leave(stream << 4)) << stream;
        captures.Left();
      } else {
        ASSERT_EQ(captures.End(stream << 4), stream % 3 == 2) << stream;
      }
      if (stream == 2) break;  // number 1 has ended with its context
    }
    EXPECT_FALSE(captures.any());
  }
  EXPECT_FALSE(captures.lost());
}

// The end of one of which there is no record passes unseen, so that no count would tell. The process ends
// with the status 0 if what is captured counts as unknown permanently.
TEST(CapturesTest, WithoutMemoryForARecordAnythingMayBeCaptured) {
  const auto begin = [] {
    Captures captures;
    const rlimit none{1, 1};
    if (::setrlimit(RLIMIT_AS, &none) != 0) std::_Exit(2);
    const bool begun = captures.Begin({0x100});
    const bool lost = captures.lost();
    captures.End(0x100);
    std::_Exit(begun && lost && captures.any() ? 0 : 1);
  };
  EXPECT_EXIT(begin(), ::testing::ExitedWithCode(0), "");
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
