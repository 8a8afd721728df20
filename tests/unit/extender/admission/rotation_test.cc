#include "extender/admission/rotation.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "extender/admission/cert_rotator.h"

namespace crossover::extender::admission {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kNow = 1'790'000'000;
constexpr std::int64_t kDay = 24 * 3600, kYear = 365 * kDay;
const std::vector<std::string> kNames = {"hook.space.svc", "hook.space.svc.cluster.local"};

TEST(CertificatesTest, AreWhatWasAskedFor) {
  const Pair authority = MakeAuthority(kNow);
  const Pair serving = MakeServing(authority, kNames, kNow);
  const auto of_authority = FactsOf(authority), of_serving = FactsOf(serving);
  ASSERT_TRUE(of_authority && of_serving);
  EXPECT_TRUE(of_authority->authority);
  EXPECT_EQ(of_authority->from_s, kNow - 3600);
  EXPECT_EQ(of_authority->until_s, kNow + 10 * kYear);
  EXPECT_FALSE(of_serving->authority);
  EXPECT_TRUE(of_serving->serves);
  EXPECT_EQ(of_serving->until_s, kNow + kYear);
  EXPECT_EQ(of_serving->names, kNames);
  EXPECT_TRUE(IsSignedBy(serving.certificate, authority.certificate));
  EXPECT_FALSE(IsSignedBy(serving.certificate, MakeAuthority(kNow).certificate));
}

TEST(CertificatesTest, WhatIsNoneOrDoesNotBelongTogetherHasNoFacts) {
  const Pair one = MakeAuthority(kNow), other = MakeAuthority(kNow);
  EXPECT_FALSE(FactsOf({one.certificate, other.key}));
  EXPECT_FALSE(FactsOf({one.certificate, ""}));
  EXPECT_FALSE(FactsOf({"garbage", one.key}));
  EXPECT_FALSE(IsSignedBy("", one.certificate));
  EXPECT_THROW(MakeServing(one, {"a,DNS:evil"}, kNow), std::runtime_error);
  EXPECT_THROW(MakeServing(one, {}, kNow), std::runtime_error);
  EXPECT_THROW(MakeServing({}, kNames, kNow), std::runtime_error);
}

class NextStepTest : public ::testing::Test {
 protected:
  Step Next(std::int64_t now_s, std::int64_t bundle_stands_s = -1) {
    return NextStep(stored_, settings_, now_s, bundle_stands_s);
  }
  void Take(Step step, std::int64_t now_s) { stored_ = Taken(step, stored_, settings_, now_s); }

  RotationSettings settings_{.names = kNames};
  Stored stored_ = Taken(Step::kMakeAll, {}, settings_, kNow);
};

TEST_F(NextStepTest, ServingCertificatesAreRenewedAtTwoThirds) {
  EXPECT_EQ(Next(kNow), Step::kNothing);
  EXPECT_EQ(Next(kNow + kYear * 2 / 3 - 1), Step::kNothing);
  EXPECT_EQ(Next(kNow + kYear * 2 / 3 + 1), Step::kRenewServing);
  Take(Step::kRenewServing, kNow + kYear);
  EXPECT_EQ(Next(kNow + kYear), Step::kNothing);
}

TEST_F(NextStepTest, WhatCannotBeServedIsRenewedAtOnce) {
  const Stored good = stored_;
  settings_.names.push_back("other.space.svc");
  EXPECT_EQ(Next(kNow), Step::kRenewServing) << "another name";
  settings_.names = kNames;
  EXPECT_EQ(Next(kNow + 2 * kYear), Step::kRenewServing) << "over";
  stored_.serving.key = good.authority.key;
  EXPECT_EQ(Next(kNow), Step::kRenewServing) << "another's key";
  stored_ = good;
  stored_.authority = MakeAuthority(kNow);
  EXPECT_EQ(Next(kNow), Step::kRenewServing) << "of another authority";
  stored_ = good;
  stored_.serving = good.authority;
  EXPECT_EQ(Next(kNow), Step::kRenewServing) << "no certificate of a server";
}

TEST_F(NextStepTest, WithoutAnAuthorityAllIsMade) {
  EXPECT_EQ(Next(kNow + 11 * kYear), Step::kMakeAll);
  EXPECT_EQ(Next(kNow - kDay), Step::kMakeAll) << "not yet";
  stored_.authority.key = "garbage";
  EXPECT_EQ(Next(kNow), Step::kMakeAll);
  stored_.authority = stored_.serving;
  EXPECT_EQ(Next(kNow), Step::kMakeAll);
}

TEST_F(NextStepTest, AnAuthorityIsReplacedInSteps) {
  const std::int64_t then = kNow + 10 * kYear * 2 / 3 + 1;
  Take(Step::kRenewServing, then - kDay);
  const Stored before = stored_;
  EXPECT_EQ(Next(then), Step::kStageAuthority);
  Take(Step::kStageAuthority, then);
  EXPECT_EQ(stored_.serving, before.serving);
  EXPECT_EQ(BundleOf(stored_), before.authority.certificate + stored_.next.certificate);
  EXPECT_EQ(Next(then + kDay), Step::kNothing) << "no API server trusts it yet";
  EXPECT_EQ(Next(then + kDay, 59), Step::kNothing);
  EXPECT_EQ(Next(then + kDay, 60), Step::kTakeNext);
  Take(Step::kTakeNext, then + kDay);
  EXPECT_TRUE(IsSignedBy(stored_.serving.certificate, stored_.authority.certificate));
  EXPECT_EQ(stored_.previous, before.authority.certificate);
  EXPECT_EQ(Next(then + kDay + 599), Step::kNothing);
  EXPECT_EQ(Next(then + kDay + 600), Step::kDropPrevious);
  Take(Step::kDropPrevious, then + kDay + 600);
  EXPECT_EQ(BundleOf(stored_), stored_.authority.certificate);
  EXPECT_EQ(Next(then + kDay + 600), Step::kNothing);
}

TEST_F(NextStepTest, ABundleHasAuthoritiesAlone) {
  stored_.previous = "garbage";
  EXPECT_EQ(BundleOf(stored_), stored_.authority.certificate);
}

// Keeps the API server's objects in memory.
struct Objects : CertificateObjects {
  std::optional<Secret> ReadSecret() override { return away ? std::nullopt : std::optional(secret); }
  bool WriteSecret(const Secret& written) override {
    if (away || written.version != secret.version) return false;
    secret = {std::to_string(++versions), written.data};
    return true;
  }
  std::optional<std::map<std::string, std::string>> ReadBundles() override {
    if (away) return std::nullopt;
    return std::map<std::string, std::string>{{"a", bundle}};
  }
  bool WriteBundles(const std::string& written) override {
    if (away || stubborn) return false;
    bundle = written;
    return true;
  }

  Secret secret;
  int versions = 0;
  std::string bundle;
  bool away = false;
  bool stubborn = false;
};

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

// Returns whether any certificate of `bundle` has signed `served`.
bool Trusts(const std::string& bundle, const std::string& served) {
  constexpr char kBegin[] = "-----BEGIN CERTIFICATE";
  for (std::size_t at = bundle.find(kBegin); at != std::string::npos; at = bundle.find(kBegin, at + 1)) {
    if (IsSignedBy(served, bundle.substr(at))) return true;
  }
  return false;
}

class KeeperTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "keeper-XXXXXX";
    directory_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::string File(const char* name) { return directory_ / name; }
  CertRotator::Settings Settings(const char* file) {
    return {.rotation = settings_, .file = File(file), .secret = "ns/tls", .configuration = "admission"};
  }

  // Simulates one year with a leader and with a replica that looks less than ten minutes late. The
  // authority has to be replaced in that year. An API server hears of a new caBundle up to 50 s late.
  // Returns how often the certificate of one of the two was not signed by a bundle that an API server may
  // have had at that time.
  int Mistrusted();

  RotationSettings settings_{.names = kNames};
  Objects objects_;
  std::filesystem::path directory_;
};

int KeeperTest::Mistrusted() {
  constexpr std::int64_t kStep = 25, kHeardWithin = 50, kReplica = 500, kBusy = 1300;
  const Stored old = Taken(Step::kMakeAll, {}, settings_, kNow - 13 * kYear / 2);
  objects_.secret = {"0", DataOf(Taken(Step::kRenewServing, old, settings_, kNow))};
  objects_.bundle = BundleOf(old);
  CertRotator leader(Settings("leader"), &objects_), replica(Settings("replica"), &objects_);
  std::map<std::int64_t, std::string> bundles;  // key: s since the start, when the bundle came
  int mistrusted = 0;
  std::int64_t changed = 0, replica_looked = -kReplica;
  for (std::int64_t at = 0; at < kYear;) {
    const int versions = objects_.versions;
    const std::string bundle = objects_.bundle;
    leader.Look({kNow + at, at}, true);
    if (at - replica_looked >= kReplica) {
      replica.Look({kNow + at, at}, false);
      replica_looked = at;
    }
    if (objects_.versions != versions || objects_.bundle != bundle) changed = at;
    if (objects_.bundle != bundle || bundles.empty()) bundles[at] = objects_.bundle;
    while (bundles.size() > 1 && std::next(bundles.begin())->first <= at - kHeardWithin)
      bundles.erase(bundles.begin());
    for (const auto& [since, heard] : bundles) {
      for (const char* file : {"leader", "replica"}) mistrusted += Trusts(heard, TextOf(File(file))) ? 0 : 1;
    }
    at += at - changed < kBusy ? kStep : 10 * kDay;
  }
  return mistrusted;
}

TEST_F(KeeperTest, AnAuthorityIsReplacedWithoutAMomentOfMistrust) {
  EXPECT_EQ(Mistrusted(), 0);
  EXPECT_EQ(objects_.versions, 4) << "staged, taken, the one before dropped; and a certificate renewed";
  const Stored stored = StoredIn(objects_.secret.data);
  EXPECT_GT(FactsOf(stored.authority)->made_s(), kNow);
  EXPECT_EQ(objects_.bundle, stored.authority.certificate);
}

TEST_F(KeeperTest, ABundleThatIsNotAwaitedIsFound) {
  settings_.bundle_settles_s = 0;
  EXPECT_GT(Mistrusted(), 0);
}

TEST_F(KeeperTest, ReplicasThatAreNotAwaitedAreFound) {
  settings_.replicas_settle_s = 0;
  EXPECT_GT(Mistrusted(), 0);
}

TEST_F(KeeperTest, OneLeadsAndOthersServeWhatItMade) {
  CertRotator leader(Settings("leader"), &objects_), replica(Settings("replica"), &objects_);
  replica.Look({kNow, 0}, false);
  EXPECT_FALSE(replica.ready());
  EXPECT_EQ(replica.complaint(),
            "Secret ns/tls: it has no certificate that can be served: the replica that leads makes one");
  leader.Look({kNow, 0}, true);
  replica.Look({kNow, 1}, false);
  EXPECT_TRUE(leader.ready() && replica.ready());
  EXPECT_EQ(replica.complaint(), "");
  EXPECT_EQ(TextOf(File("leader")), TextOf(File("replica")));
  EXPECT_EQ(objects_.bundle, BundleOf(StoredIn(objects_.secret.data)));
  EXPECT_EQ(std::filesystem::status(File("leader")).permissions(), std::filesystem::perms(0600));
}

TEST_F(KeeperTest, ServesOnWhileTheApiServerIsAwayAndSaysSo) {
  CertRotator leader(Settings("leader"), &objects_);
  leader.Look({kNow, 0}, true);
  const std::string served = TextOf(File("leader"));
  objects_.away = true;
  leader.Look({kNow + kYear, kYear}, true);
  EXPECT_TRUE(leader.ready());
  EXPECT_EQ(leader.complaint(), "Secret ns/tls: it could not be read");
  EXPECT_EQ(TextOf(File("leader")), served);
  objects_.away = false;
  leader.Look({kNow + kYear, kYear + 1}, true);
  EXPECT_NE(TextOf(File("leader")), served);
}

TEST_F(KeeperTest, NoNewAuthorityIsTakenWhileTheBundleCannotBeWritten) {
  CertRotator leader(Settings("leader"), &objects_);
  leader.Look({kNow, 0}, true);
  const std::int64_t then = 7 * kYear;
  leader.Look({kNow + then, then}, true);
  objects_.stubborn = true;
  for (int i = 1; i < 10; ++i) leader.Look({kNow + then + i * 600, then + i * 600}, true);
  EXPECT_EQ(StoredIn(objects_.secret.data).previous, "") << "the old one still signs";
  EXPECT_NE(leader.complaint(), "");
  EXPECT_TRUE(Trusts(objects_.bundle, TextOf(File("leader"))));
}

TEST_F(KeeperTest, WhatAnotherWroteIsSetRight) {
  CertRotator leader(Settings("leader"), &objects_);
  leader.Look({kNow, 0}, true);
  objects_.bundle = "another's";
  objects_.secret.data["tls.key"] = "garbage";
  leader.Look({kNow, 1}, true);
  leader.Look({kNow, 2}, true);
  EXPECT_TRUE(Trusts(objects_.bundle, TextOf(File("leader"))));
  EXPECT_EQ(leader.complaint(), "");
}

TEST_F(KeeperTest, AFileThatCannotBeWrittenIsNamed) {
  CertRotator leader({.rotation = settings_, .file = "/nowhere/file"}, &objects_);
  leader.Look({kNow, 0}, true);
  EXPECT_FALSE(leader.ready());
  EXPECT_EQ(leader.complaint(), "/nowhere/file: No such file or directory");
}

TEST(StoredTest, ThereAndBack) {
  const Stored stored{.authority = {"a", "b"}, .serving = {"c", "d"}, .next = {"e", "f"}, .previous = "g"};
  EXPECT_EQ(StoredIn(DataOf(stored)), stored);
  EXPECT_EQ(StoredIn(DataOf({})), Stored());
  EXPECT_EQ(StoredIn({}), Stored());
}

}  // namespace
}  // namespace crossover::extender::admission
