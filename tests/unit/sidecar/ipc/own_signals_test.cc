#include "sidecar/ipc/own_signals.h"

#include <gtest/gtest.h>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "tests/unit/sidecar/ipc/fake_memory.h"

namespace crossover::ipc {
namespace {

using test::FakeMemory;

// The thread outlives a test, so what it uses is never destroyed.
constinit Copies copies;
constexpr std::int64_t kAnywayNs = base::kNsPerSecond;  // a thread that waits for a core begins within it
constinit OwnSignals own(kAnywayNs);

class OwnSignalsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    FakeMemory::Clear();
    static const gates::Driver driver = FakeMemory::Table();
    ASSERT_EQ(copies.SetUp(&driver, nullptr), CUDA_SUCCESS);
  }

  // The next test begins when the thread of this one has ended.
  void TearDown() override {
    EXPECT_TRUE(Holds([] { return !own.writes(); }));
  }

  static CUdeviceptr Address(const std::uint32_t* word) { return reinterpret_cast<CUdeviceptr>(word); }

  // Returns whether the word has `value` within a few seconds.
  static bool Becomes(const std::uint32_t* word, std::uint32_t value) {
    return Holds([&] { return base::LoadWord(word) == value; });
  }

  // Returns whether `condition` holds within a few seconds.
  template <typename Condition>
  static bool Holds(Condition condition) {
    const std::int64_t end = base::MonotonicNs() + 10 * base::kNsPerSecond;
    while (!condition()) {
      if (base::MonotonicNs() > end) return false;
      const std::uint32_t never = 0;
      base::FutexWait(&never, 0, base::kNsPerMs);
    }
    return true;
  }
};

TEST_F(OwnSignalsTest, WritesEachSignalAgainUntilTheStreamHasPassed) {
  static crossover_slot slot[2];
  slot[0] = slot[1] = {};
  std::uint32_t* const a = &FakeMemory::words[256];
  std::uint32_t* const b = &FakeMemory::words[272];
  own.Add({Address(a), &slot[0], turn::FirstStretch(3)}, &copies);
  own.Add({Address(b), &slot[1], turn::FirstStretch(5)}, &copies);
  for (int pass = 0; pass < 3; ++pass) {
    EXPECT_TRUE(Becomes(a, 1));
    EXPECT_TRUE(Becomes(b, 1));
    base::StoreWord(a, 0);
    base::StoreWord(b, 0);
  }
  base::StoreWord(&slot[0].hold, turn::FirstStretch(3));
  // Its words are not believed at once.
  EXPECT_TRUE(Holds([begin = base::MonotonicNs()] { return base::MonotonicNs() - begin > kAnywayNs; }));
  base::StoreWord(b, 0);
  EXPECT_TRUE(Becomes(b, 1));
  base::StoreWord(b, 0);
  EXPECT_TRUE(Becomes(b, 1)) << "a round that began after the stream of the other signal had passed";
  base::StoreWord(a, 0);
  base::StoreWord(b, 0);
  EXPECT_TRUE(Becomes(b, 1));
  EXPECT_EQ(base::LoadWord(a), 0u) << "no stream waits for it any more";
  base::StoreWord(&slot[1].hold, turn::FirstStretch(5));
}

// A hostile client says of this slot that no stream waits.
TEST_F(OwnSignalsTest, WritesForAWhileWhateverTheWordsSay) {
  static crossover_slot slot;
  slot = {};
  base::StoreWord(&slot.hold, turn::FirstStretch(9));
  std::uint32_t* const word = &FakeMemory::words[256];
  own.Add({Address(word), &slot, turn::FirstStretch(3)}, &copies);
  EXPECT_TRUE(Becomes(word, 1));
}

TEST_F(OwnSignalsTest, BeginsAgainAfterItHasEnded) {
  static crossover_slot slot;
  slot = {};
  std::uint32_t* const word = &FakeMemory::words[256];
  for (std::uint32_t k = 1; k < 4; ++k) {
    own.Add({Address(word), &slot, k}, &copies);
    EXPECT_TRUE(Becomes(word, 1));
    base::StoreWord(&slot.hold, k);
    base::StoreWord(word, 0);
  }
}

}  // namespace
}  // namespace crossover::ipc
