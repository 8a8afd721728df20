// Tests the API's server and the command line's client over a socket, with statistics that the test writes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ctime>
#include <filesystem>
#include <future>

#include "cli/node/client.h"
#include "deviceplugin/rpc/api_messages.h"
#include "deviceplugin/rpc/server.h"
#include "deviceplugin/rpc/unix_acceptor.h"
#include "proto/crossover_node.pb.h"

namespace crossover::deviceplugin {
namespace {

using cli::NodeClient;
using ::testing::HasSubstr;

class FakeSwitch : public ModeSwitch {
 public:
  State mode() const override {
    return {.in_force = switched.value_or(configured), .configured = configured, .limits = {}};
  }
  std::optional<arbiter::Policy> Switch(std::optional<arbiter::Policy> policy) override {
    if (stopping) return std::nullopt;
    const arbiter::Policy before = mode().in_force;
    switched = policy;
    return before;
  }

  arbiter::Policy configured = arbiter::Policy::kEnforce;
  std::optional<arbiter::Policy> switched;
  bool stopping = false;
};

class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path().string() + "/api-XXXXXX";
    directory_ = mkdtemp(name.data());
    server_ = Start();
    ASSERT_NE(server_, nullptr) << error_;
    gpu_ = std::make_shared<arbiter::GpuInfo>();
    gpu_->uuid = "GPU-0";
    gpu_->page = arbiter::Page::Create(&error_);
    auto member = std::make_shared<arbiter::Member>();
    member->gpu = gpu_;
    member->id = 1;
    member->gang = "a";
    member->rank = 3;
    member_ = member;
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(directory_);
  }
  std::unique_ptr<ApiServer> Start() {
    return ApiServer::Start(socket(),
                            {.stats_store = &stats_store_,
                             .modes = &modes_,
                             .profiles = nullptr,
                             .version = "9",
                             .arbiter_socket = "/a",
                             .mps_pipe_directory = "/m",
                             .mps =
                                 [] {
                                   return MpsNews{"it hangs", "it cannot be run", ShmRoom{9, 5}};
                                 },
                             .signals = [this] { return signals_; }},
                            &error_);
  }
  std::string socket() const { return directory_ + "/api.sock"; }
  void Put(arbiter::EventKind kind, turn::Time duration = 0) {
    stats_store_.OnEvent(
        {.kind = kind, .at = base::MonotonicNs(), .gpu = gpu_, .member = member_, .duration = duration});
  }

  std::string directory_;
  std::string error_;
  StatsStore stats_store_;
  FakeSwitch modes_;
  signals::ByGpu signals_;  // set before the first call
  std::unique_ptr<ApiServer> server_;
  std::shared_ptr<arbiter::GpuInfo> gpu_;
  std::shared_ptr<const arbiter::Member> member_;
};

TEST_F(ApiTest, TheSocketIsTheOwnersAlone) {
  struct stat status {};
  ASSERT_EQ(stat(socket().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_EQ(status.st_uid, geteuid());
  server_.reset();
  EXPECT_NE(stat(socket().c_str(), &status), 0) << "and goes with the server";
}

TEST(DoorTest, RootAndTheDaemonsOwnUserMayEnter) {
  EXPECT_TRUE(MayEnter(0, 0));
  EXPECT_TRUE(MayEnter(0, 500));
  EXPECT_TRUE(MayEnter(500, 500));
  EXPECT_FALSE(MayEnter(501, 500));
  EXPECT_FALSE(MayEnter(500, 0));
}

TEST_F(ApiTest, ALiveServersSocketIsNotTakenAndADeadOnesIs) {
  EXPECT_EQ(Start(), nullptr);
  EXPECT_THAT(error_, HasSubstr("expected no other daemon that listens on it, got one"));
  server_.reset();
  server_ = Start();
  EXPECT_NE(server_, nullptr) << error_;
}

TEST_F(ApiTest, AnswersWhatTheBooksSay) {
  Put(arbiter::EventKind::kJoin);
  Put(arbiter::EventKind::kHold, 2'000'000);
  Put(arbiter::EventKind::kRelease, 20'000'000);
  stats_store_.OnDropped(5);
  gpu_->page->slot(0).mode = CROSSOVER_MODE_OBSERVE;
  NodeClient client(socket());
  node::v1::Top top;
  ASSERT_EQ(client.GetTop(&top), "");
  EXPECT_EQ(top.daemon().version(), "9");
  EXPECT_EQ(top.daemon().events_dropped(), 5u);
  EXPECT_EQ(top.daemon().arbiter_socket(), "/a");
  EXPECT_EQ(top.daemon().mps_pipe_directory(), "/m");
  EXPECT_EQ(top.daemon().mps_fault(), "it hangs");
  EXPECT_EQ(top.daemon().mps_unasked(), "it cannot be run");
  EXPECT_EQ(top.daemon().mps_shm_bytes(), 9u);
  EXPECT_EQ(top.daemon().mps_shm_free_bytes(), 5u);
  ASSERT_EQ(top.gpus_size(), 1);
  EXPECT_EQ(top.gpus(0).why_no_turns(), "alone on its GPU");
  EXPECT_FALSE(top.gpus(0).has_gain());
  ASSERT_EQ(top.jobs_size(), 1);
  const node::v1::Client& shown = top.jobs(0).clients(0);
  EXPECT_EQ(shown.rank(), 3u);
  EXPECT_EQ(shown.turns(), 1u);
  EXPECT_DOUBLE_EQ(shown.hold_ms(), 20);
  EXPECT_FALSE(shown.has_step_ms());
  node::v1::ListTurnsResponse turns;
  ASSERT_EQ(client.ListTurns({}, &turns), "");
  ASSERT_EQ(turns.turns_size(), 1);
  EXPECT_NEAR(turns.turns(0).began_s() - turns.turns(0).asked_s(), 0.002, 1e-6);
}

TEST_F(ApiTest, TellsWhichReductionsAreCompressed) {
  Put(arbiter::EventKind::kJoin);
  NodeClient client(socket());
  node::v1::Top top;
  ASSERT_EQ(client.GetTop(&top), "");
  EXPECT_FALSE(top.jobs(0).clients(0).has_reductions()) << "it has said nothing";
  crossover_reductions told{};
  told.asked = 2;
  told.narrowed[2] = 3;
  told.plain[16] = 1;
  stats_store_.OnEvent({.kind = arbiter::EventKind::kReductions,
                        .gpu = gpu_,
                        .member = member_,
                        .reductions = std::make_shared<const crossover_reductions>(told)});
  ASSERT_EQ(client.GetTop(&top), "");
  const node::v1::Reductions& shown = top.jobs(0).clients(0).reductions();
  EXPECT_EQ(shown.asked(), "bf16");
  ASSERT_EQ(shown.compressed_size(), 1);
  EXPECT_EQ(shown.compressed(0).level(), "bf16");
  EXPECT_EQ(shown.compressed(0).communicators(), 3u);
  ASSERT_EQ(shown.plain_size(), 1);
  EXPECT_EQ(shown.plain(0).reason(), "missing_rank");
  EXPECT_THAT(shown.plain(0).words(), HasSubstr("a rank did not vote in time"));
  ASSERT_EQ(stats_store_.Reductions().size(), 1u);
  EXPECT_EQ(stats_store_.Reductions()[0].member, member_);
  EXPECT_TRUE(stats_store_.TakeReductionsOfLeft().empty());
  Put(arbiter::EventKind::kLeave);
  EXPECT_TRUE(stats_store_.Reductions().empty());
  EXPECT_EQ(stats_store_.TakeReductionsOfLeft().size(), 1u) << "a job that ends soon is told, too";
  EXPECT_TRUE(stats_store_.TakeReductionsOfLeft().empty());
}

TEST_F(ApiTest, TellsWhatSignalsCostAlsoOfAGpuWithoutClients) {
  signals_["GPU-0"] = {.again = 2};
  signals_["GPU-1"] = {
      .signallers = 1, .host = {.resident_bytes = 5 << 20, .cpu_seconds = 0.5}, .exported_bytes = 2 << 20};
  signals_["GPU-2"] = {};  // its signaller has gone
  Put(arbiter::EventKind::kJoin);
  NodeClient client(socket());
  node::v1::Top top;
  ASSERT_EQ(client.GetTop(&top), "");
  ASSERT_EQ(top.gpus_size(), 2);
  const node::v1::Signals& first = top.gpus(0).signals();
  EXPECT_EQ(first.late(), 2u);
  EXPECT_FALSE(first.has_host_memory_bytes());
  EXPECT_FALSE(first.has_cpu_s());
  EXPECT_FALSE(first.has_device_memory_bytes());
  EXPECT_EQ(top.gpus(1).uuid(), "GPU-1");
  EXPECT_EQ(top.gpus(1).clients(), 0u);
  const node::v1::Signals& second = top.gpus(1).signals();
  EXPECT_EQ(second.signallers(), 1u);
  EXPECT_EQ(second.host_memory_bytes(), 5u << 20);
  EXPECT_DOUBLE_EQ(second.cpu_s(), 0.5);
  EXPECT_EQ(second.device_memory_bytes(), 2u << 20);
  EXPECT_EQ(second.device_memory_source(), "exported");
}

std::string WhyNoTurns(std::string stats_store, const std::string& held, std::size_t clients,
                       arbiter::Policy in_force = arbiter::Policy::kEnforce) {
  GpuView view;
  auto member = std::make_shared<arbiter::Member>();
  view.clients.resize(clients);
  for (ClientView& client : view.clients) client.member = member;
  view.why_ungated = std::move(stats_store);
  node::v1::Gpu gpu;
  Fill(view, held, in_force, &gpu);
  return gpu.why_no_turns();
}

TEST(WhyNoTurnsTest, AGpuThatIsHeldAndWhatElseIsWrongWithIt) {
  EXPECT_EQ(WhyNoTurns("gang a learns its period anew", "", 2), "gang a learns its period anew");
  EXPECT_EQ(WhyNoTurns("gang a learns its period anew", "held", 2), "held; gang a learns its period anew");
  EXPECT_EQ(WhyNoTurns("alone on its GPU", "held", 1), "held") << "a process is there that is no client";
  EXPECT_EQ(WhyNoTurns("alone on its GPU", "", 1), "alone on its GPU");
  EXPECT_EQ(WhyNoTurns("the daemon's mode is observe", "held", 2), "held") << "its mode is enforce";
  EXPECT_EQ(WhyNoTurns("the daemon's mode is observe", "", 2), "") << "the guard compares them side by side";
  EXPECT_EQ(WhyNoTurns("the daemon's mode is observe", "", 2, arbiter::Policy::kObserve),
            "the daemon's mode is observe");
  EXPECT_EQ(WhyNoTurns("the daemon's mode is observe", "held", 2, arbiter::Policy::kObserve),
            "held; the daemon's mode is observe");
  EXPECT_EQ(WhyNoTurns("the daemon's mode is off", "held", 2, arbiter::Policy::kOff),
            "held; the daemon's mode is off");
  EXPECT_EQ(WhyNoTurns("", "held", 0), "");
}

TEST_F(ApiTest, TellsWhatIsKnownOfAJob) {
  Put(arbiter::EventKind::kJoin);
  node::v1::Top top;
  ASSERT_EQ(NodeClient(socket()).GetTop(&top), "");
  EXPECT_FALSE(top.jobs(0).has_profile());
  stats_store_.NoteMemory(*member_, 5000);
  ASSERT_EQ(NodeClient(socket()).GetTop(&top), "");
  EXPECT_EQ(top.jobs(0).profile().peak_memory_bytes().value(), 5000);
  EXPECT_FALSE(top.jobs(0).profile().has_compute_ms());
}

TEST_F(ApiTest, ListsTheProfilesThatAreKept) {
  node::v1::ListProfilesResponse response;
  ASSERT_EQ(NodeClient(socket()).ListProfiles(&response), "");
  EXPECT_EQ(response.directory(), "") << "they are off";
  server_.reset();
  const auto store = ProfileStore::Open(directory_ + "/profiles", &error_);
  ASSERT_NE(store, nullptr) << error_;
  JobProfile profile;
  profile.job = {.gang = "a", .uid = 7, .size = 4};
  profile.peak_memory = {5000, base::MonotonicNs(), MeasurementSource::kNvml};
  store->Put(profile);
  server_ = ApiServer::Start(socket(),
                             {.stats_store = &stats_store_,
                              .modes = &modes_,
                              .profiles = store.get(),
                              .version = "9",
                              .arbiter_socket = "/a"},
                             &error_);
  ASSERT_EQ(NodeClient(socket()).ListProfiles(&response), "");
  EXPECT_EQ(response.directory(), store->directory());
  ASSERT_EQ(response.profiles_size(), 1);
  EXPECT_EQ(response.profiles(0).uid(), 7u);
  EXPECT_EQ(response.profiles(0).peak_memory_bytes().value(), 5000);
  EXPECT_NEAR(response.profiles(0).peak_memory_bytes().learned_at_s(),
              static_cast<double>(std::time(nullptr)), 60);
}

TEST_F(ApiTest, SwitchesTheModeAndSaysWhatItWas) {
  NodeClient client(socket());
  node::v1::SetModeRequest request;
  node::v1::SetModeResponse response;
  request.set_mode(node::v1::MODE_OBSERVE);
  ASSERT_EQ(client.SetMode(request, &response), "");
  EXPECT_EQ(response.mode_before(), "enforce");
  EXPECT_EQ(response.mode(), "observe");
  EXPECT_EQ(modes_.switched, arbiter::Policy::kObserve);
  request.set_configured(true);
  ASSERT_EQ(client.SetMode(request, &response), "");
  EXPECT_EQ(response.mode_before(), "observe");
  EXPECT_EQ(response.mode(), "enforce");
  EXPECT_FALSE(modes_.switched);
}

TEST_F(ApiTest, RefusesWhatIsNotAllowed) {
  const std::string expected = "mode: expected off, observe or enforce, or configured: true, got ";
  NodeClient client(socket());
  node::v1::SetModeRequest request;
  node::v1::SetModeResponse response;
  EXPECT_THAT(client.SetMode(request, &response), HasSubstr(expected + "nothing"));
  request.set_configured(false);
  EXPECT_THAT(client.SetMode(request, &response), HasSubstr(expected + "configured: false"));
  request.set_mode(static_cast<node::v1::Mode>(77));
  EXPECT_THAT(client.SetMode(request, &response), HasSubstr(expected + "77"));
  EXPECT_FALSE(modes_.switched);
  modes_.stopping = true;
  request.set_mode(node::v1::MODE_OFF);
  EXPECT_THAT(client.SetMode(request, &response), HasSubstr("the daemon stops"));
  node::v1::ListTurnsRequest turns;
  node::v1::ListTurnsResponse answer;
  for (const double seconds : {-1.0, 1e300, std::numeric_limits<double>::quiet_NaN()}) {
    turns.set_seconds(seconds);
    EXPECT_THAT(client.ListTurns(turns, &answer), HasSubstr("0 to 1000000")) << seconds;
  }
  turns.set_seconds(1);
  turns.set_gpu_uuid(std::string(100'000, 'x'));
  EXPECT_THAT(client.ListTurns(turns, &answer), HasSubstr("larger than max"));
}

// The watcher reads nothing while more events come than the server can keep for it. Meanwhile the server
// serves other clients, and it counts in the stream what the watcher has lost.
TEST_F(ApiTest, ASlowWatcherLosesEventsAndIsToldHowMany) {
  constexpr std::uint64_t kEvents = 50'000;
  std::promise<void> watching;
  std::promise<void> all_put;
  std::uint64_t seen = 0;
  std::uint64_t dropped = 0;
  auto watcher = std::async(std::launch::async, [&] {
    NodeClient client(socket());
    return client.WatchTurns("", [&](const node::v1::TurnEvent& event) {
      if (event.event() == "watching") {
        watching.set_value();
        all_put.get_future().wait();
        return true;
      }
      ++seen;
      dropped += event.dropped();
      return event.event() != "leave";  // the last
    });
  });
  watching.get_future().wait();
  for (std::uint64_t i = 1; i < kEvents; ++i) Put(arbiter::EventKind::kHold);
  Put(arbiter::EventKind::kLeave);
  node::v1::Top top;
  EXPECT_EQ(NodeClient(socket()).GetTop(&top), "") << "others are served";
  all_put.set_value();
  EXPECT_EQ(watcher.get(), "");
  EXPECT_GT(dropped, 0u);
  EXPECT_EQ(seen + dropped, kEvents);
}

TEST_F(ApiTest, WatchersOfOneGpuSeeNoOther) {
  std::promise<void> watching;
  std::vector<std::string> gpus;
  auto watcher = std::async(std::launch::async, [&] {
    NodeClient client(socket());
    return client.WatchTurns("GPU-0", [&](const node::v1::TurnEvent& event) {
      if (event.event() == "watching") {
        watching.set_value();
        return true;
      }
      gpus.push_back(event.gpu_uuid());
      return false;
    });
  });
  watching.get_future().wait();
  auto other = std::make_shared<arbiter::GpuInfo>();
  other->uuid = "GPU-1";
  stats_store_.OnEvent({.kind = arbiter::EventKind::kHold, .at = 1, .gpu = other, .member = nullptr});
  Put(arbiter::EventKind::kHold);
  EXPECT_EQ(watcher.get(), "");
  EXPECT_EQ(gpus, std::vector<std::string>{"GPU-0"});
}

TEST_F(ApiTest, WatchersAreToldOfTheEnd) {
  std::promise<void> watching;
  auto watcher = std::async(std::launch::async, [&] {
    NodeClient client(socket());
    return client.WatchTurns("", [&](const node::v1::TurnEvent&) {
      watching.set_value();
      return true;
    });
  });
  watching.get_future().wait();
  server_.reset();
  EXPECT_EQ(watcher.get(), "the daemon stopped");
  EXPECT_THAT(NodeClient(socket()).WatchTurns("", {}), HasSubstr("no such file: start the daemon"));
}

}  // namespace
}  // namespace crossover::deviceplugin
