#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

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
  const std::string path =
      (std::filesystem::temp_directory_path() / ("trace-test-" + std::to_string(getpid()))).string();
  std::string error;
  {
    const auto trace = TraceWriter::Open(path, &error);
    ASSERT_NE(trace, nullptr) << error;
    EventBus event_bus({trace.get()});
    for (int i = 0; i < 3; ++i) event_bus.OnEvent(EventOf(arbiter::EventKind::kHold));
    event_bus.OnEvent(EventOf(arbiter::EventKind::kStep));  // no part of the trace
  }
  std::ifstream file(path);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) ++lines;
  EXPECT_EQ(lines, 3);
  std::filesystem::remove(path);
}

TEST(TraceTest, SaysWhyItCannotOpen) {
  std::string error;
  EXPECT_EQ(TraceWriter::Open("/no/such/directory/trace", &error), nullptr);
  EXPECT_EQ(error, "/no/such/directory/trace: No such file or directory");
}

}  // namespace
}  // namespace crossover::deviceplugin
