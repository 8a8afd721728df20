#include "benchmarks/placement/trace.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <stdexcept>

namespace crossover::benchmarks {
namespace {

std::string FaultOf(const std::string& text) {
  const std::string path = ::testing::TempDir() + std::to_string(getpid()) + "-trace.csv";
  std::ofstream(path) << text;
  try {
    ReadTrace(path);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(TraceTest, IsReadInSeconds) {
  const std::vector<Job> jobs = ReadTrace(TRACE);
  ASSERT_EQ(jobs.size(), 5u);
  EXPECT_EQ(jobs[3].gpus, 16);
  EXPECT_EQ(jobs[3].submit_s, 20);
  EXPECT_EQ(jobs[2].stage[1], 0.09);
  EXPECT_EQ(jobs[0].length_s(), 1000);
}

TEST(TraceTest, FaultsAreNamed) {
  const std::string head = "job_id,num_gpu,submit_time,iterations,model_name,iteration_time\n";
  EXPECT_NE(FaultOf(head + "0,none,0,1,m,100\n").find("trace.csv:2: num_gpu is \"none\"; a number from 1"),
            std::string::npos);
  EXPECT_NE(FaultOf(head + "0,1,0,1,m,100\n").find("no column resource_time_0"), std::string::npos);
  EXPECT_THROW(ReadTrace("/nowhere.csv"), std::runtime_error);
}

}  // namespace
}  // namespace crossover::benchmarks
