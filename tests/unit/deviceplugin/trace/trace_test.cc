#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "deviceplugin/trace/trace_writer.h"

namespace crossover::deviceplugin {
namespace {

arbiter::Event EventOf(arbiter::EventKind kind) {
  const auto gpu = std::make_shared<arbiter::GpuInfo>();
  gpu->uuid = "GPU-0";
  const auto member = std::make_shared<arbiter::Member>();
  member->slot = 3;
  member->gang = "a\"b\\c";
  return {.kind = kind,
          .at = 123456789,
          .gpu = gpu,
          .member = member,
          .duration = 5,
          .mode = CROSSOVER_MODE_GATE};
}

// A TraceFile names a file that is removed at the end of the test.
class TraceFile {
 public:
  TraceFile() { std::filesystem::remove(path_); }
  ~TraceFile() { std::filesystem::remove(path_); }

  const std::string& path() const { return path_; }
  std::string text() const {
    std::ifstream file(path_);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> lines() const {
    std::ifstream file(path_);
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

 private:
  const std::string path_ =
      (std::filesystem::temp_directory_path() / ("trace-test-" + std::to_string(getpid()))).string();
};

// A FullDisk lets this process write no file beyond a size, as if the disk were full, until the end of its
// life.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FullDisk() { setrlimit(RLIMIT_FSIZE, &before_); }

 private:
  rlimit before_{};
};

TEST(TraceTest, OneObjectPerEvent) {
  EXPECT_EQ(TraceLine(EventOf(arbiter::EventKind::kHold)),
            R"({"t_ns":123456789,"gpu":"GPU-0","slot":3,"gang":"a\"b\\c","event":"hold"})");
}

TEST(TraceTest, AModeSaysWhich) {
  EXPECT_THAT(TraceLine(EventOf(arbiter::EventKind::kMode)),
              ::testing::EndsWith(R"("event":"mode","mode":"gate"})"));
}

TEST(TraceTest, AnEventWithoutAClientHasNoSlot) {
  arbiter::Event event = EventOf(arbiter::EventKind::kMint);
  event.member = nullptr;
  EXPECT_EQ(TraceLine(event), R"({"t_ns":123456789,"gpu":"GPU-0","event":"mint"})");
}

TEST(TraceTest, AppendsToItsFileThroughTheRecorder) {
  const TraceFile file;
  std::string error;
  {
    const auto trace = TraceWriter::Open(file.path(), &error);
    ASSERT_NE(trace, nullptr) << error;
    EventBus event_bus({trace.get()});
    for (int i = 0; i < 3; ++i) event_bus.OnEvent(EventOf(arbiter::EventKind::kHold));
    event_bus.OnEvent(EventOf(arbiter::EventKind::kStep));  // no part of the trace
  }
  EXPECT_EQ(file.lines().size(), 3u);
}

TEST(TraceTest, ADaemonThatIsKilledLeavesWholeLines) {
  const TraceFile file;
  const std::string line = TraceLine(EventOf(arbiter::EventKind::kHold));
  std::string error;
  const auto trace = TraceWriter::Open(file.path(), &error);
  ASSERT_NE(trace, nullptr) << error;
  for (int i = 0; i < 1000; ++i) trace->OnEvent(EventOf(arbiter::EventKind::kHold));
  EXPECT_EQ(file.text(), "");  // nothing is handed to the kernel within a round
  trace->Flush();
  EXPECT_EQ(file.lines(), std::vector<std::string>(1000, line));
}

TEST(TraceTest, BeginsALineWhereTheFileEndsWithinOne) {
  const TraceFile file;
  std::ofstream(file.path()) << "{\"t_ns\":1";
  std::string error;
  const auto trace = TraceWriter::Open(file.path(), &error);
  ASSERT_NE(trace, nullptr) << error;
  trace->OnEvent(EventOf(arbiter::EventKind::kHold));
  trace->Flush();
  EXPECT_THAT(file.lines(),
              ::testing::ElementsAre("{\"t_ns\":1", TraceLine(EventOf(arbiter::EventKind::kHold))));
}

TEST(TraceTest, GoesOnWithinALineOnceTheDiskIsNotFullAnyMore) {
  const TraceFile file;
  const std::string line = TraceLine(EventOf(arbiter::EventKind::kHold));
  std::string error;
  const auto trace = TraceWriter::Open(file.path(), &error);
  ASSERT_NE(trace, nullptr) << error;
  testing::internal::CaptureStderr();
  {
    const FullDisk full(1000);
    for (int round = 0; round < 20; ++round) {
      trace->OnEvent(EventOf(arbiter::EventKind::kHold));
      trace->Flush();
    }
  }
  EXPECT_EQ(file.text().size(), 1000u);
  trace->Flush();
  EXPECT_EQ(file.lines(), std::vector<std::string>(20, line));
  EXPECT_EQ(trace->lost(), 0u);
  const std::string log = testing::internal::GetCapturedStderr();
  EXPECT_THAT(log, ::testing::HasSubstr("trace cannot be written: " + file.path() + ": File too large"));
  EXPECT_EQ(log.find("trace cannot be written"), log.rfind("trace cannot be written")) << log;
  EXPECT_THAT(log, ::testing::HasSubstr("the trace is written again: " + file.path()));
}

TEST(TraceTest, CountsWhatIsLostWhileTheDiskIsFull) {
  const TraceFile file;
  std::string error;
  const auto trace = TraceWriter::Open(file.path(), &error);
  ASSERT_NE(trace, nullptr) << error;
  const int events = 20'000;
  {
    const FullDisk full(0);
    for (int i = 0; i < events; ++i) trace->OnEvent(EventOf(arbiter::EventKind::kHold));
  }
  EXPECT_GT(trace->lost(), 0u);
  trace->OnDropped(5);
  trace->Flush();
  const std::vector<std::string> lines = file.lines();
  EXPECT_EQ(lines.size(), events - trace->lost() + 1);
  EXPECT_EQ(lines.back(), "{\"dropped\":" + std::to_string(trace->lost() + 5) + "}");
}

TEST(TraceTest, SaysWhyItCannotOpen) {
  std::string error;
  EXPECT_EQ(TraceWriter::Open("/no/such/directory/trace", &error), nullptr);
  EXPECT_EQ(error, "/no/such/directory/trace: No such file or directory");
}

}  // namespace
}  // namespace crossover::deviceplugin
