#include "common/kube/pages.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::kube {
namespace {

TEST(Pages, TheFirstHasNoTokenAndThoseAfterItHaveItEscaped) {
  EXPECT_EQ(PageParameters(""), "limit=40");
  EXPECT_EQ(PageParameters("", 2), "limit=2");
  EXPECT_EQ(PageParameters("aZ0-_.", 2), "limit=2&continue=aZ0-_.");
  EXPECT_EQ(PageParameters("a&b=/+"), "limit=40&continue=a%26b%3D%2F%2B");
}

TEST(Pages, TheLastNamesNone) {
  EXPECT_EQ(NextPageOf(nlohmann::json::parse(R"({"metadata": {"continue": "t"}})")), "t");
  for (const char* list : {"{}", R"({"metadata": {}})", R"({"metadata": {"continue": 1}})", "3"})
    EXPECT_EQ(NextPageOf(nlohmann::json::parse(list)), "") << list;
}

}  // namespace
}  // namespace crossover::kube
