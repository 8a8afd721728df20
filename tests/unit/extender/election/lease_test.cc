#include "extender/election/lease.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace crossover::extender {
namespace {

LeaseRecord By(const std::string& holder, const std::string& renewed = "1") {
  return {.holder = holder, .renewed = renewed, .duration_s = 15};
}

TEST(Lease, IsReadAsTheApiServerSendsIt) {
  const auto lease = nlohmann::json::parse(R"({"kind":"Lease","spec":{"holderIdentity":"pod-1_4f6e",
      "leaseDurationSeconds":15,"renewTime":"2026-11-21T01:00:00.000000Z","leaseTransitions":3}})");
  EXPECT_EQ(ParseLease(lease), By("pod-1_4f6e", "2026-11-21T01:00:00.000000Z"));
}

TEST(Lease, OneThatIsNoneHasNoHolder) {
  for (const char* text : {"null", "[]", "{}", R"({"spec":7})", R"({"spec":{"holderIdentity":"a_b"}})",
                           R"({"spec":{"holderIdentity":"a_b","leaseDurationSeconds":0}})",
                           R"({"spec":{"holderIdentity":"a_b","leaseDurationSeconds":1e300}})",
                           R"({"spec":{"holderIdentity":{},"leaseDurationSeconds":15}})"}) {
    EXPECT_EQ(ParseLease(nlohmann::json::parse(text)).holder, "") << text;
  }
}

TEST(LeaseJudge, LeadsWhileItsOwnSchedulerRenews) {
  LeaseJudge judge("pod-1");
  EXPECT_FALSE(judge.Leads(100)) << "it knows of no Lease";
  judge.Saw(By("pod-1_4f6e", "1"), 100);
  EXPECT_TRUE(judge.Leads(114.9));
  EXPECT_FALSE(judge.Leads(115));
  judge.Saw(By("pod-1_4f6e", "2"), 120);
  EXPECT_TRUE(judge.Leads(134.9));
}

TEST(LeaseJudge, ARecordThatIsSeenAgainIsNoSignOfLife) {
  LeaseJudge judge("pod-1");
  judge.Saw(By("pod-1_4f6e"), 100);
  judge.Saw(By("pod-1_4f6e"), 114);
  EXPECT_FALSE(judge.Leads(115));
}

TEST(LeaseJudge, AnotherPodsSchedulerIsAnother) {
  LeaseJudge judge("pod-1");
  for (const char* other : {"pod-2_4f6e", "pod-12_4f6e", "pod-1", "pod-1_", "", "xpod-1_4f6e"}) {
    judge.Saw(By(other), 100);
    EXPECT_FALSE(judge.Leads(100)) << other;
  }
  judge.Saw(By("pod-1_4f6e"), 100);
  EXPECT_TRUE(judge.Leads(101));
  judge.Saw(By("pod-2_77aa"), 102);
  EXPECT_FALSE(judge.Leads(102));
  EXPECT_EQ(judge.holder(), "pod-2_77aa");
}

TEST(LeaseJudge, WithoutTheLeaseNoneLeads) {
  LeaseJudge judge("pod-1");
  judge.Saw(By("pod-1_4f6e"), 100);
  judge.Gone();
  EXPECT_FALSE(judge.Leads(101));
  EXPECT_EQ(judge.holder(), "");
}

}  // namespace
}  // namespace crossover::extender
