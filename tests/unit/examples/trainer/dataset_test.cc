#include "examples/trainer/dataset.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <numeric>

#include "examples/trainer/parameters.h"

namespace crossover::trainer {
namespace {

using testing::HasSubstr;

std::string WriteFile(const std::string& name, const std::string& text) {
  const std::string path = testing::TempDir() + name;
  std::ofstream(path) << text;
  return path;
}

std::string Image(const std::string& pixel, const std::string& label) {
  std::string line;
  for (int i = 0; i < 64; ++i) line += pixel + ",";
  return line + label + "\n";
}

std::string ErrorOf(const std::string& path) {
  const auto loaded = LoadDataset(path);
  return std::holds_alternative<DatasetError>(loaded) ? std::get<DatasetError>(loaded).text : "loaded";
}

TEST(DatasetTest, TheShippedImagesAreAllThere) {
  const auto loaded = LoadDataset(TRAINER_DATA);
  ASSERT_TRUE(std::holds_alternative<Dataset>(loaded)) << std::get<DatasetError>(loaded).text;
  const auto& dataset = std::get<Dataset>(loaded);
  EXPECT_EQ(dataset.size(), 1797u);
  EXPECT_EQ(dataset.images.size(), 1797u * 64u);
  // UCI gives these counts for the test set.
  const std::vector<long> per_digit = {178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  for (int digit = 0; digit < 10; ++digit) {
    EXPECT_EQ(std::ranges::count(dataset.labels, digit), per_digit[static_cast<std::size_t>(digit)]);
  }
  EXPECT_EQ(std::accumulate(dataset.images.begin(), dataset.images.end(), 0L), 561718L);
}

TEST(DatasetTest, AFaultIsNamedWithFileAndLine) {
  EXPECT_THAT(ErrorOf("/nonexistent/digits.csv"), HasSubstr("/nonexistent/digits.csv: No such file"));
  EXPECT_THAT(ErrorOf(WriteFile("short.csv", Image("3", "1") + "1,2,3\n")), HasSubstr("short.csv:2: "));
  EXPECT_THAT(ErrorOf(WriteFile("dark.csv", Image("17", "1"))), HasSubstr("dark.csv:1: expected pixels"));
  EXPECT_THAT(ErrorOf(WriteFile("label.csv", Image("1", "10"))), HasSubstr("label.csv:1: expected pixels"));
  EXPECT_THAT(ErrorOf(WriteFile("long.csv", Image("1", "1,2"))),
              HasSubstr("long.csv:1: expected 65 whole numbers with commas between, got 1,"));
  EXPECT_THAT(ErrorOf(WriteFile("empty.csv", "")),
              HasSubstr("empty.csv: expected at least 10 images, got 0"));
}

TEST(ImageOrderTest, EveryImageIsUsedOnceAndHeldOutOnesNeverToTrain) {
  const ImageOrder order = OrderImages(1797, 5);
  EXPECT_EQ(order.train, 1438u);
  EXPECT_EQ(order.held_out, 359u);
  for (std::uint32_t i = 0; i < 1797; ++i) EXPECT_EQ(order.order[i] % 5 == 4, i >= order.train);
  std::vector<std::uint32_t> sorted = order.order;
  std::ranges::sort(sorted);
  for (std::uint32_t i = 0; i < 1797; ++i) EXPECT_EQ(sorted[i], i);
}

TEST(ImageOrderTest, TheSeedDecides) {
  EXPECT_EQ(OrderImages(1797, 5).order, OrderImages(1797, 5).order);
  EXPECT_NE(OrderImages(1797, 5).order, OrderImages(1797, 6).order);
  EXPECT_EQ(InitialParameters(5), InitialParameters(5));
  EXPECT_NE(InitialParameters(5), InitialParameters(6));
}

}  // namespace
}  // namespace crossover::trainer
