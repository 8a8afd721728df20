#include "cli/run/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "common/base/job_environment.h"

namespace crossover::cli {
namespace {

using ::testing::HasSubstr;

// Makes a folder with <root>/bin and <root>/lib/libcrossover.so.
class PlanTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path().string() + "/plan-XXXXXX";
    root_ = mkdtemp(name.data());
    std::filesystem::create_directories(root_ + "/bin");
    std::filesystem::create_directories(root_ + "/lib");
    std::ofstream(Library()) << "x";
    options_ = {.gang = "a",
                .size = "4",
                .priority = "",
                .max_slowdown = "",
                .gpu_memory = "",
                .socket = root_ + "/none.sock",
                .library = "",
                .command = {"true"}};
  }
  void TearDown() override { std::filesystem::remove_all(root_); }

  std::string Library() const { return root_ + "/lib/libcrossover.so"; }
  RunPlan Plan(const Environment& environment = {}) const {
    auto result = PlanRun(options_, environment, root_ + "/bin");
    const auto* error = std::get_if<RunError>(&result);
    EXPECT_EQ(error, nullptr) << error->text;
    return std::get<RunPlan>(result);
  }
  std::string Error() const {
    auto result = PlanRun(options_, {}, root_ + "/bin");
    const auto* error = std::get_if<RunError>(&result);
    return error == nullptr ? "" : error->text;
  }

  std::string root_;
  RunOptions options_;
};

TEST_F(PlanTest, CapIsPassedOnOrRefused) {
  EXPECT_EQ(Plan().environment.count("CROSSOVER_MAX_SLOWDOWN"), 0u);
  options_.max_slowdown = "1.25";
  EXPECT_EQ(Plan().environment.at("CROSSOVER_MAX_SLOWDOWN"), "1.25");
  options_.max_slowdown = "1.01";
  EXPECT_EQ(Error(),
            "--max-slowdown: expected a number from 1.05 to 10 with at most three decimals, got 1.01");
}

TEST_F(PlanTest, MemoryIsPassedOnOrRefused) {
  EXPECT_EQ(Plan().environment.count("CROSSOVER_GPU_MEMORY"), 0u);
  for (const char* allowed : {"20Gi", "512Mi", "16Mi", "20G", "1024Ti", "17000000"}) {
    options_.gpu_memory = allowed;
    EXPECT_EQ(Plan().environment.at("CROSSOVER_GPU_MEMORY"), allowed);
  }
  for (const char* refused :
       {"20GB", "Gi", "15Mi", "0", "1025Ti", "99999999999999999999999", "-1", "1.5Gi", "20Gii"}) {
    options_.gpu_memory = refused;
    EXPECT_EQ(Error(),
              "--gpu-memory: expected a whole number of bytes, or one with K, M, G, T, Ki, Mi, Gi or Ti, "
              "from 16Mi to 1024Ti, got " +
                  options_.gpu_memory);
  }
}

TEST_F(PlanTest, PriorityIsPassedOnOrRefused) {
  EXPECT_EQ(Plan().environment.count("CROSSOVER_TURN_PRIORITY"), 0u);
  options_.priority = "low";
  EXPECT_EQ(Plan().environment.at("CROSSOVER_TURN_PRIORITY"), "low");
  options_.priority = "urgent";
  EXPECT_EQ(Error(), "--priority: expected high, normal or low, got urgent");
}

TEST_F(PlanTest, SetsTheEnvironmentOfARank) {
  const RunPlan plan = Plan();
  EXPECT_EQ(plan.environment.at("CROSSOVER_GANG"), "a");
  EXPECT_EQ(plan.environment.at("CROSSOVER_GANG_SIZE"), "4");
  EXPECT_EQ(plan.environment.at("CROSSOVER_SOCKET"), root_ + "/none.sock");
  EXPECT_EQ(plan.environment.at("LD_PRELOAD"), Library());
}

TEST_F(PlanTest, WarnsWhereNoDaemonListensAndRunsAnyway) {
  const RunPlan plan = Plan();
  ASSERT_EQ(plan.warnings.size(), 1u);
  EXPECT_THAT(plan.warnings[0], HasSubstr("no daemon listens on " + root_ + "/none.sock"));
}

TEST_F(PlanTest, TheSocketComesFromTheOptionThenTheEnvironmentThenTheDefault) {
  EXPECT_EQ(Plan({{"CROSSOVER_SOCKET", "/elsewhere"}}).environment.at("CROSSOVER_SOCKET"),
            root_ + "/none.sock");
  options_.socket = "";
  EXPECT_EQ(Plan({{"CROSSOVER_SOCKET", "/elsewhere"}}).environment.at("CROSSOVER_SOCKET"), "/elsewhere");
  EXPECT_EQ(Plan({}).environment.at("CROSSOVER_SOCKET"), base::kDefaultSocket);
}

TEST_F(PlanTest, ARelativeSocketIsMadeAbsolute) {
  options_.socket = "here.sock";
  EXPECT_EQ(Plan().environment.at("CROSSOVER_SOCKET"),
            (std::filesystem::current_path() / "here.sock").string());
}

TEST_F(PlanTest, KeepsWhatIsPreloadedAlready) {
  EXPECT_EQ(Plan({{"LD_PRELOAD", "/x.so /y.so"}}).environment.at("LD_PRELOAD"), Library() + ":/x.so:/y.so");
}

TEST_F(PlanTest, PrefersTheLibraryBesideTheProgram) {
  std::ofstream(root_ + "/bin/libcrossover.so") << "x";
  EXPECT_EQ(Plan().environment.at("LD_PRELOAD"), root_ + "/bin/libcrossover.so");
}

TEST_F(PlanTest, ErrorsNameOptionValueAndWhatIsAllowed) {
  options_.size = "0";
  EXPECT_EQ(Error(), "--size: expected a number of ranks from 1 to 1000000, got 0");
  options_.size = "4x";
  EXPECT_THAT(Error(), HasSubstr("--size: expected a number of ranks from 1 to 1000000, got 4x"));
  options_.size = "";
  EXPECT_THAT(Error(), HasSubstr("--size"));
  options_.size = "4";
  options_.gang = "a b";
  EXPECT_THAT(Error(),
              HasSubstr("--gang: expected 1 to 127 printable ASCII characters without spaces, got a b"));
  options_.gang = std::string(128, 'g');
  EXPECT_THAT(Error(), HasSubstr("1 to 127"));
  options_.gang = "a";
  options_.socket = "/" + std::string(120, 's');
  EXPECT_THAT(Error(), HasSubstr("--socket: expected a path of 1 to 107 bytes, got /"));
  options_.socket = "";
  options_.library = root_ + "/missing.so";
  EXPECT_THAT(Error(), HasSubstr("--library: "));
  options_.library = "";
  options_.command = {};
  EXPECT_THAT(Error(), HasSubstr("a command is missing"));
}

TEST_F(PlanTest, SaysWhereItLookedForTheLibrary) {
  std::filesystem::remove(Library());
  EXPECT_THAT(Error(), HasSubstr("--library PATH"));
}

TEST_F(PlanTest, RefusesALibraryThatLdPreloadCannotName) {
  std::filesystem::create_directories(root_ + "/with space");
  options_.library = root_ + "/with space/libcrossover.so";
  std::ofstream(options_.library) << "x";
  EXPECT_THAT(Error(), HasSubstr("without spaces and colons"));
}

TEST(PreloadTest, PutsTheLibraryInFrontOnce) {
  EXPECT_EQ(Preload("/l.so", ""), "/l.so");
  EXPECT_EQ(Preload("/l.so", "/l.so"), "/l.so");
  EXPECT_EQ(Preload("/l.so", "/a.so:/l.so:/b.so"), "/l.so:/a.so:/b.so");
  EXPECT_EQ(Preload("/l.so", "  /a.so  "), "/l.so:/a.so");
}

}  // namespace
}  // namespace crossover::cli
