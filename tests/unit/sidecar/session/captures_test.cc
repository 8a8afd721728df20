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

TEST(CapturesTest, MoreThanAreKnownAreCountedAndTheCountComesBack) {
  constexpr phase::StreamKey kMany = Captures::kMost + 10;
  Captures captures;
  for (phase::StreamKey stream = 1; stream <= kMany; ++stream) EXPECT_TRUE(captures.Begin({stream}));
  for (phase::StreamKey stream = kMany; stream >= 1; --stream) {
    EXPECT_TRUE(captures.any());
    EXPECT_TRUE(captures.End(stream)) << stream;
  }
  EXPECT_FALSE(captures.any());
  EXPECT_FALSE(captures.End(kMany));
}

}  // namespace
}  // namespace crossover::session
