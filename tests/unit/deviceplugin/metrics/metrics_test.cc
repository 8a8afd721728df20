#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/watch_reason.h"
#include "deviceplugin/metrics/arbiter_metrics.h"
#include "proto/arbiter_protocol.h"

namespace crossover::deviceplugin {
namespace {

using prometheus::ClientMetric;

constexpr char kUuid[] = "GPU-00000000-0000-0000-0000-000000000000";

class MetricsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    gpu_ = std::make_shared<arbiter::GpuInfo>();
    gpu_->uuid = kUuid;
    std::string error;
    gpu_->page = arbiter::Page::Create(&error);
    ASSERT_NE(gpu_->page, nullptr) << error;
  }
  std::shared_ptr<const arbiter::Member> Join(const std::string& gang, turn::SlotIndex slot,
                                              double max_slowdown = 0) {
    auto member = std::make_shared<arbiter::Member>();
    member->id = slot + 1;
    member->gpu = gpu_;
    member->slot = slot;
    member->gang = gang;
    member->max_slowdown = max_slowdown;
    member->transport = CROSSOVER_TRANSPORT_GPU_GATES;
    Tell(arbiter::EventKind::kJoin, member);
    return member;
  }
  void Tell(arbiter::EventKind kind, const std::shared_ptr<const arbiter::Member>& member,
            turn::Time duration = 0) {
    metrics_.OnEvent({.kind = kind, .at = 0, .gpu = gpu_, .member = member, .duration = duration, .mode = 0});
  }
  // Returns the series of `family` with these labels, in any order, or null if there is none. It is valid
  // until the next call.
  const ClientMetric* Find(const std::string& family, std::vector<ClientMetric::Label> labels) {
    collected_ = metrics_.Collect();
    std::sort(labels.begin(), labels.end());
    for (const auto& candidate : collected_) {
      if (candidate.name != family) continue;
      for (const ClientMetric& metric : candidate.metric) {
        auto have = metric.label;
        std::sort(have.begin(), have.end());
        if (have == labels) return &metric;
      }
    }
    return nullptr;
  }
  std::vector<ClientMetric::Label> OfGang(const std::string& gang) const {
    return {{"gpu_uuid", kUuid}, {"gang", gang}};
  }

  std::shared_ptr<arbiter::GpuInfo> gpu_;
  ArbiterMetrics metrics_;
  std::vector<prometheus::MetricFamily> collected_;
};

TEST_F(MetricsTest, CountsTurnsAndTheirWaitsAndLengths) {
  const auto a = Join("a", 0);
  Tell(arbiter::EventKind::kHold, a, 3'000'000);
  Tell(arbiter::EventKind::kRelease, a, 20'000'000);
  Tell(arbiter::EventKind::kHold, a, 1'000'000);
  EXPECT_EQ(Find("crossover_turns_total", OfGang("a"))->counter.value, 2);
  const auto wait = Find("crossover_turn_wait_seconds", OfGang("a"))->histogram;
  EXPECT_EQ(wait.sample_count, 2u);
  EXPECT_NEAR(wait.sample_sum, 0.004, 1e-9);
  const auto hold = Find("crossover_turn_hold_seconds", OfGang("a"))->histogram;
  EXPECT_EQ(hold.sample_count, 1u);
  EXPECT_NEAR(hold.sample_sum, 0.020, 1e-9);
}

TEST_F(MetricsTest, TellsWhoseCapIsRefused) {
  const auto a = Join("a", 0, 1.2);
  Join("b", 1);
  EXPECT_EQ(Find("crossover_cap_refused", OfGang("a"))->gauge.value, 0);
  EXPECT_EQ(Find("crossover_cap_refused", OfGang("b")), nullptr) << "it has none";
  Tell(arbiter::EventKind::kRefuseCap, a);
  EXPECT_EQ(Find("crossover_cap_refused", OfGang("a"))->gauge.value, 1);
  Tell(arbiter::EventKind::kGrantCap, a);
  EXPECT_EQ(Find("crossover_cap_refused", OfGang("a"))->gauge.value, 0);
}

TEST_F(MetricsTest, SeriesOfAClientGoWithIt) {
  const auto a = Join("a", 0);
  Join("b", 1);
  ASSERT_NE(Find("crossover_turns_total", OfGang("a")), nullptr);
  Tell(arbiter::EventKind::kLeave, a);
  for (const char* family :
       {"crossover_turns_total", "crossover_turn_wait_seconds", "crossover_client_faults_total"}) {
    EXPECT_EQ(Find(family, OfGang("a")), nullptr) << family;
    EXPECT_NE(Find(family, OfGang("b")), nullptr) << family;
  }
}

TEST_F(MetricsTest, ClientsAreCountedByWhatTheirPageSays) {
  Join("a", 0);
  Join("b", 1);
  gpu_->page->slot(0).mode = gpu_->page->slot(1).mode = CROSSOVER_MODE_GATE;
  gpu_->page->slot(0).phase = gpu_->page->slot(1).phase = CROSSOVER_PHASE_TAKING;
  gpu_->page->slot(1).faults = 5;
  const std::vector<ClientMetric::Label> taking = {
      {"gpu_uuid", kUuid}, {"mode", "gate"}, {"phase", "taking"}, {"transport", "gpu_gates"}};
  EXPECT_EQ(Find("crossover_clients", taking)->gauge.value, 2);
  gpu_->page->slot(1).phase = 1'000'000;  // a client may write anything
  EXPECT_EQ(Find("crossover_clients", taking)->gauge.value, 1);
  EXPECT_EQ(Find("crossover_client_faults_total", OfGang("b"))->counter.value, 5);
}

TEST_F(MetricsTest, ChangesOfTheTransportAreCounted) {
  const auto a = Join("a", 0);
  EXPECT_EQ(Find("crossover_transport_changes_total", OfGang("a"))->counter.value, 0);
  a->transport = CROSSOVER_TRANSPORT_RELAYED_GATES;
  ++a->transport_changes;
  EXPECT_EQ(Find("crossover_transport_changes_total", OfGang("a"))->counter.value, 1);
  EXPECT_NE(
      Find("crossover_clients",
           {{"gpu_uuid", kUuid}, {"mode", "off"}, {"phase", "learning"}, {"transport", "relayed_gates"}}),
      nullptr);
}

TEST_F(MetricsTest, WhoOnlyWatchesSaysWhy) {
  Join("a", 0);
  Join("b", 1);
  auto labels = OfGang("b");
  labels.push_back({"reason", "one-sided communication"});
  EXPECT_EQ(Find("crossover_client_watched_only", labels), nullptr);
  gpu_->page->slot(1).watch_reason = static_cast<std::uint32_t>(base::WatchReason::kOneSided);
  EXPECT_EQ(Find("crossover_client_watched_only", labels)->gauge.value, 1);
  labels.back().value = "invalid";
  gpu_->page->slot(1).watch_reason = 1'000'000;
  EXPECT_EQ(Find("crossover_client_watched_only", labels)->gauge.value, 1);
}

TEST_F(MetricsTest, MemoryIsShownAgainstItsBudget) {
  Join("a", 0);
  Join("b", 1);
  gpu_->page->slot(0).memory_used_mib = 3;
  gpu_->page->slot(1).memory_budget_mib = 1024;
  gpu_->page->slot(1).memory_refusals = 7;
  EXPECT_EQ(Find("crossover_memory_used_bytes", OfGang("a"))->gauge.value, 3 << 20);
  EXPECT_EQ(Find("crossover_memory_used_bytes", OfGang("b"))->gauge.value, 0);
  EXPECT_EQ(Find("crossover_memory_budget_bytes", OfGang("a")), nullptr) << "it has none";
  EXPECT_EQ(Find("crossover_memory_budget_bytes", OfGang("b"))->gauge.value, 1 << 30);
  EXPECT_EQ(Find("crossover_memory_refusals_total", OfGang("b"))->counter.value, 7);
}

TEST_F(MetricsTest, CountsDamagesByClientsAndByOthers) {
  Tell(arbiter::EventKind::kDamage, nullptr);
  const auto a = Join("a", 0);
  Tell(arbiter::EventKind::kDamage, a);
  EXPECT_EQ(Find("crossover_turnstile_damages_total", {{"gpu_uuid", kUuid}})->counter.value, 2);
}

TEST_F(MetricsTest, GpusAreBoundedWhateverIsToldOfThem) {
  constexpr int kMany = 200;
  constexpr std::size_t kMost = 64;
  const auto count = [this] {
    for (const auto& family : metrics_.Collect()) {
      if (family.name == "crossover_turnstile_damages_total") return family.metric.size();
    }
    return std::size_t{0};
  };
  const auto a = Join("a", 0);
  for (const bool damage : {false, true}) {
    for (int i = 0; i < kMany; ++i) {
      const auto other = std::make_shared<arbiter::GpuInfo>();
      other->uuid = "GPU-" + std::to_string(i);
      if (damage) {
        metrics_.OnEvent({.kind = arbiter::EventKind::kDamage, .at = 0, .gpu = other, .member = nullptr});
      } else {
        metrics_.OnStats(*other, {});
      }
      EXPECT_LE(count(), kMost) << other->uuid;
    }
  }
  Tell(arbiter::EventKind::kDamage, a);
  EXPECT_EQ(Find("crossover_turnstile_damages_total", {{"gpu_uuid", kUuid}})->counter.value, 1)
      << "one with clients stays";
}

TEST_F(MetricsTest, ShowsTheTurnstilesCounters) {
  turn::Stats stats;
  stats.handed_over = 90;
  stats.granted = 10;
  stats.minted = 1;
  stats.revoked = 2;
  stats.swallowed = 3;
  stats.opened = 4;
  stats.preempted = 5;
  stats.rest_while_ready = 1'500'000'000;
  metrics_.OnStats(*gpu_, stats);
  EXPECT_EQ(Find("crossover_handovers_total", {{"gpu_uuid", kUuid}, {"by", "client"}})->counter.value, 90);
  EXPECT_EQ(Find("crossover_handovers_total", {{"gpu_uuid", kUuid}, {"by", "arbiter"}})->counter.value, 10);
  const auto correction = [&](const char* action) {
    return Find("crossover_token_corrections_total", {{"gpu_uuid", kUuid}, {"action", action}})
        ->counter.value;
  };
  EXPECT_EQ(correction("mint"), 1);
  EXPECT_EQ(correction("revoke"), 2);
  EXPECT_EQ(correction("swallow"), 3);
  EXPECT_EQ(Find("crossover_turns_preempted_total", {{"gpu_uuid", kUuid}})->counter.value, 5);
  EXPECT_EQ(Find("crossover_watchdog_openings_total", {{"gpu_uuid", kUuid}})->counter.value, 4);
  EXPECT_NEAR(Find("crossover_turn_rest_while_ready_seconds_total", {{"gpu_uuid", kUuid}})->counter.value,
              1.5, 1e-9);
}

TEST_F(MetricsTest, ShowsWhatTheDaemonUsesAndDrops) {
  EXPECT_EQ(Find("crossover_arbiter_cpu_seconds_total", {}), nullptr);
  metrics_.set_cpu_seconds([] { return 0.25; });
  metrics_.OnDropped(7);
  EXPECT_EQ(Find("crossover_arbiter_cpu_seconds_total", {})->counter.value, 0.25);
  EXPECT_EQ(Find("crossover_events_dropped_total", {})->counter.value, 7);
}

TEST_F(MetricsTest, EventsOfUnknownClientsAndOfNoneAreIgnored) {
  Tell(arbiter::EventKind::kMint, nullptr);
  auto stranger = std::make_shared<arbiter::Member>();
  stranger->gpu = gpu_;
  Tell(arbiter::EventKind::kHold, stranger);
  EXPECT_EQ(Find("crossover_turns_total", OfGang("")), nullptr);
}

TEST_F(MetricsTest, FailedProfilesAreCountedWhereProfilesAreKept) {
  EXPECT_EQ(Find("crossover_profile_write_failures_total", {}), nullptr);
  metrics_.set_profile_failures([] { return std::uint64_t{3}; });
  ASSERT_NE(Find("crossover_profile_write_failures_total", {}), nullptr);
  EXPECT_EQ(Find("crossover_profile_write_failures_total", {})->counter.value, 3);
}

TEST_F(MetricsTest, EventsThatTheTraceLostAreCountedWhereThereIsATrace) {
  EXPECT_EQ(Find("crossover_trace_lost_events_total", {}), nullptr);
  metrics_.set_trace_lost([] { return std::uint64_t{3}; });
  ASSERT_NE(Find("crossover_trace_lost_events_total", {}), nullptr);
  EXPECT_EQ(Find("crossover_trace_lost_events_total", {})->counter.value, 3);
}

}  // namespace
}  // namespace crossover::deviceplugin
