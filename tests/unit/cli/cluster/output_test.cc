#include "cli/cluster/output.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::cli {
namespace {

TEST(OutputTest, OneOfSeveralCanBeToldFromTheNext) {
  const nlohmann::json value = {{"a", {1, 2}}};
  EXPECT_EQ(ShownAgain(value, "text\n", Format::kJson, false), "{\"a\":[1,2]}\n") << "a line each";
  EXPECT_EQ(ShownAgain(value, "text\n", Format::kYaml, true), Shown(value, "", Format::kYaml));
  EXPECT_EQ(ShownAgain(value, "text\n", Format::kYaml, false), "---\n" + Shown(value, "", Format::kYaml));
  for (const Format people : {Format::kText, Format::kWide})
    EXPECT_EQ(ShownAgain(value, "text\n", people, false), "text\n");
}

}  // namespace
}  // namespace crossover::cli
