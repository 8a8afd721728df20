#include "common/base/withheld.h"

#include <gtest/gtest.h>

#include <set>

namespace crossover::base {
namespace {

TEST(WithheldTest, EachReasonHasANameOfItsOwnThatIsReadBack) {
  std::set<std::string_view> names;
  for (int number = 0; number <= static_cast<int>(Withheld::kMemoryUnknown); ++number) {
    const auto reason = static_cast<Withheld>(number);
    EXPECT_NE(NameOf(reason), "") << number;
    EXPECT_TRUE(names.insert(NameOf(reason)).second) << NameOf(reason);
    EXPECT_EQ(WithheldNamed(NameOf(reason)), reason);
  }
  EXPECT_EQ(names.size(), kWithheldNames.size());
}

TEST(WithheldTest, ANameOfALaterVersionIsNotKnown) {
  EXPECT_EQ(WithheldNamed("OnFire"), std::nullopt);
  EXPECT_EQ(WithheldNamed(""), std::nullopt);
}

}  // namespace
}  // namespace crossover::base
