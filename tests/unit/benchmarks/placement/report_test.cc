#include "benchmarks/placement/report.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <stdexcept>

#include "benchmarks/placement/policies.h"
#include "benchmarks/placement/traces/read.h"

namespace crossover::benchmarks {
namespace {

const Cluster kTwo{.nodes = 2, .gpus_per_node = 8};

std::string Written(void (*write)(const Outcome&, const std::string&), const Outcome& outcome) {
  const std::string path = ::testing::TempDir() + "report-" + std::to_string(getpid()) + ".csv";
  write(outcome, path);
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// These figures are calculated by hand, as in simulate_test: 0 and 1 run on all GPUs until 1025 s, then 2
// and 4 on four each, then 3.
TEST(ReportTest, OccupancyGoesByWhatChanges) {
  const Trace trace = ReadTrace({.path = TRACE});
  const auto policy = MakeFifo(kTwo);
  const Outcome outcome = Simulate(trace.jobs, *policy, kTwo);
  EXPECT_EQ(Written(WriteOccupancy, outcome),
            "from_s,held_gpus,there_gpus,running,waiting\n"
            "0.000,16.000,16,2,0\n10.000,16.000,16,2,1\n20.000,16.000,16,2,2\n30.000,16.000,16,2,3\n"
            "1025.000,8.000,16,2,1\n1126.500,4.000,16,1,1\n1441.000,16.000,16,1,0\n"
            "1644.000,0.000,16,0,0\n");
  double held_gpu_s = 0;
  for (std::size_t i = 1; i < outcome.moments.size(); ++i) {
    const Moment& m = outcome.moments[i - 1];
    held_gpu_s += m.held_gpus * (outcome.moments[i].from_s - m.from_s);
  }
  EXPECT_NEAR(held_gpu_s, outcome.held_gpu_s, 1e-6);
}

TEST(ReportTest, NodesThatAreDownAreNotThere) {
  const Trace trace = ReadTrace({.path = TRACE});
  const auto policy = MakeFifo(kTwo);
  const Outcome outcome =
      Simulate(trace.jobs, *policy, kTwo, {.mean_up_s = 700, .down_s = 300, .checkpoint_s = 200, .seed = 1});
  double there_gpu_s = 0;
  for (std::size_t i = 1; i < outcome.moments.size(); ++i) {
    const Moment& m = outcome.moments[i - 1];
    EXPECT_LE(m.held_gpus, m.there_gpus);
    there_gpu_s += m.there_gpus * (outcome.moments[i].from_s - m.from_s);
  }
  EXPECT_NEAR(there_gpu_s, outcome.there_gpu_s, 1e-6);
  EXPECT_LT(there_gpu_s, 16 * outcome.makespan_s());
}

TEST(ReportTest, ALinePerJob) {
  Job job{.id = 7, .gpus = 2, .model = "m", .submit_s = 9876543.25, .iterations = 10, .iteration_s = 6};
  const Outcome outcome{.jobs = {{&job, 9876700, 9876600.5, 1}}};
  EXPECT_EQ(Written(WriteJobs, outcome),
            "job_id,num_gpu,submit_s,start_s,end_s,length_s,restarts\n"
            "7,2,9876543.250,9876600.500,9876700.000,60.000,1\n");
}

TEST(ReportTest, TheLine) {
  Job job{.id = 7, .gpus = 2, .model = "m", .submit_s = 10, .iterations = 10, .iteration_s = 6};
  const Outcome outcome{.jobs = {{&job, 130, 40, 1}}, .held_gpu_s = 180, .there_gpu_s = 360};
  EXPECT_EQ(LineOf(outcome, "fifo", 3),
            "{\"policy\": \"fifo\", \"jobs\": 1, \"left_out\": 3, \"completion_s\": 120.000, "
            "\"makespan_s\": 130.000, \"slowdown\": 2.0000, \"slowdown_p50\": 2.0000, "
            "\"slowdown_p99\": 2.0000, \"wait_s\": 30.000, \"wait_s_p99\": 30.000, "
            "\"longest_wait_s\": 30.000, \"occupancy\": 0.5000, \"restarts\": 1}");
}

TEST(ReportTest, AFileThatCannotBeWrittenIsNamed) {
  EXPECT_THROW(WriteJobs({}, "/nowhere/j.csv"), std::runtime_error);
  EXPECT_THROW(WriteOccupancy({}, "/nowhere/o.csv"), std::runtime_error);
}

}  // namespace
}  // namespace crossover::benchmarks
