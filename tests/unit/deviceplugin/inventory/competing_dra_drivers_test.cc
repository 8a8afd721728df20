#include "deviceplugin/inventory/competing_dra_drivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "common/base/clock.h"
#include "deviceplugin/inventory/dra_watch.h"
#include "tests/unit/common/kube/server.h"

namespace crossover::deviceplugin {
namespace {

using base::Withheld;
using base::WithheldReason;
using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const std::vector<std::string> kOurs = {"GPU-a", "GPU-b"};
constexpr char kGivesOut[] = "the DRA driver gpu.nvidia.com gives it out";

// Makes a slice as NVIDIA's driver does. Each device is {name, UUID}.
json Slice(const std::string& driver, const std::vector<std::pair<std::string, std::string>>& devices,
           bool before_v1beta2 = false) {
  json object = {{"metadata", {{"name", "n1-" + driver + "-x7k2p"}}},
                 {"spec",
                  {{"driver", driver},
                   {"nodeName", "n1"},
                   {"pool", {{"name", "n1"}, {"generation", 1}, {"resourceSliceCount", 1}}},
                   {"devices", json::array()}}}};
  for (const auto& [name, uuid] : devices) {
    json attributes = {{"type", {{"string", "gpu"}}}, {"minor", {{"int", 0}}}};
    if (!uuid.empty()) attributes["uuid"] = {{"string", uuid}};
    json device = {{"name", name}};
    if (before_v1beta2) {
      device["basic"] = {{"attributes", attributes}};
    } else {
      device["attributes"] = attributes;
    }
    object["spec"]["devices"].push_back(device);
  }
  return object;
}

json Claim(const std::string& device, const std::string& pool = "n1",
           const std::string& driver = "gpu.nvidia.com") {
  return {{"metadata", {{"namespace", "team"}, {"name", "c"}}},
          {"status",
           {{"allocation",
             {{"devices",
               {{"results",
                 {{{"request", "gpu"}, {"driver", driver}, {"pool", pool}, {"device", device}}}}}}}}}}};
}

class CompetingDraDriversTest : public ::testing::Test {
 protected:
  auto Find(const std::vector<json>& slices, const std::vector<json>& claims = {}) {
    std::vector<DraSlice> read;
    std::vector<DraClaim> read_claims;
    for (const json& slice : slices) read.push_back(ReadSlice(slice));
    for (const json& claim : claims) read_claims.push_back(ReadClaim(claim));
    devices_.Note(read);
    return FindCompetingDraDrivers(read, read_claims, devices_, kOurs);
  }
  DraDevices devices_;
};

TEST_F(CompetingDraDriversTest, GpusThatADriverNames) {
  for (const bool before : {false, true}) {
    EXPECT_THAT(Find({Slice("gpu.nvidia.com", {{"gpu-1", "GPU-b"}, {"gpu-7", "GPU-z"}}, before)}),
                ElementsAre(Pair("GPU-b", WithheldReason{Withheld::kDraDriver, kGivesOut})));
  }
  EXPECT_THAT(Find({Slice("gpu.example.com", {{"x", "GPU-a"}})}),
              ElementsAre(Pair("GPU-a", testing::Field(&WithheldReason::text,
                                                       "the DRA driver gpu.example.com gives it out"))))
      << "of any maker";
}

TEST_F(CompetingDraDriversTest, APartOfAGpuIsTheGpu) {
  json slice = Slice("gpu.nvidia.com", {{"gpu-0-mig-9-4-4", "MIG-x"}});
  slice["spec"]["devices"][0]["attributes"]["parentUUID"] = {{"string", "GPU-a"}};
  EXPECT_THAT(Find({slice}), ElementsAre(Pair("GPU-a", testing::_)));
}

TEST_F(CompetingDraDriversTest, NvidiasWithoutUuidsHaveThemAll) {
  EXPECT_EQ(Find({Slice("gpu.nvidia.com", {{"gpu-0", ""}})}).size(), 2u);
  EXPECT_THAT(Find({Slice("gpu.nvidia.com", {})}), IsEmpty());
}

TEST_F(CompetingDraDriversTest, DriversOfOtherDevicesAreNone) {
  EXPECT_THAT(Find({Slice("compute-domain.nvidia.com", {{"channel-0", ""}, {"daemon-0", ""}}),
                    Slice("dra.net", {{"eth0", ""}})},
                   {Claim("channel-0", "n1", "compute-domain.nvidia.com")}),
              IsEmpty());
  EXPECT_FALSE(devices_.any());
}

TEST_F(CompetingDraDriversTest, WhatAClaimHasStaysWithItWhenTheSlicesAreGone) {
  Find({Slice("gpu.nvidia.com", {{"gpu-0", "GPU-a"}, {"gpu-1", "GPU-b"}})});
  EXPECT_THAT(Find({}, {Claim("gpu-1")}),
              ElementsAre(Pair("GPU-b", WithheldReason{Withheld::kDraDriver,
                                                       "the DRA driver gpu.nvidia.com has given it to "
                                                       "ResourceClaim team/c"})));
  EXPECT_THAT(Find({}, {Claim("gpu-1", "n2")}), IsEmpty()) << "of another node";
  EXPECT_EQ(Find({}, {Claim("gpu-9")}).size(), 2u) << "which one it is was never told";
  EXPECT_THAT(Find({}, {}), IsEmpty());
}

TEST_F(CompetingDraDriversTest, ADeviceThatIsOnlyLookedAtIsNotGivenOut) {
  Find({Slice("gpu.nvidia.com", {{"gpu-0", "GPU-a"}})});
  json claim = Claim("gpu-0");
  EXPECT_EQ(Find({}, {claim}).size(), 1u) << "the control";
  claim["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = true;
  EXPECT_THAT(Find({}, {claim}), IsEmpty());
  claim["status"].erase("allocation");
  EXPECT_THAT(Find({}, {claim}), IsEmpty()) << "it has not been allocated";
}

TEST_F(CompetingDraDriversTest, OddObjectsAreReadAsEmpty) {
  for (const char* text :
       {"null", "[]", "3", R"({"spec": 1})", R"({"spec": {"driver": 3, "devices": {}}})",
        R"({"spec": {"driver": "gpu.nvidia.com", "devices": [1, null, {"attributes": [1]}]}})",
        R"({"status": {"allocation": {"devices": {"results": [1, {"adminAccess": "x"}]}}}})"}) {
    const json object = json::parse(text);
    EXPECT_NO_THROW(ReadSlice(object)) << text;
    EXPECT_NO_THROW(ReadClaim(object)) << text;
  }
}

TEST_F(CompetingDraDriversTest, ALongNameOfADriverIsCut) {
  const auto found = Find({Slice(std::string(1000, 'x') + "\n", {{"d", "GPU-a"}})});
  EXPECT_LT(found.at("GPU-a").text.size(), 120u);
}

TEST(DraVersionTest, TheNewestThatIsRead) {
  const auto of = [](std::vector<std::string> versions) {
    json group = {{"versions", json::array()}};
    for (const std::string& version : versions) group["versions"].push_back({{"version", version}});
    return ChooseDraVersion(group);
  };
  EXPECT_EQ(of({"v1beta1", "v1", "v1beta2"}), "v1");
  EXPECT_EQ(of({"v1beta1", "v1beta2"}), "v1beta2");
  EXPECT_EQ(of({"v1alpha3"}), "");
  EXPECT_EQ(of({}), "");
  EXPECT_EQ(ChooseDraVersion(json()), "");
}

std::string ListOf(const std::vector<json>& items) {
  return json({{"metadata", {{"resourceVersion", "7"}}}, {"items", items}}).dump();
}

class DraWatchTest : public ::testing::Test {
 protected:
  std::unique_ptr<DraWatch> Start() {
    return std::make_unique<DraWatch>(kube::Access{.server = server_.url(), .ca_file = "", .token_file = ""},
                                      "n1");
  }
  // Waits until `watch` finds as many GPUs. The first look is at the time `now`, and each next one `step`
  // later. Otherwise the test times out.
  static std::map<std::string, WithheldReason> Await(DraWatch* watch, std::size_t gpus, std::int64_t now,
                                                     std::int64_t step = 0) {
    for (;; now += step) {
      auto found = watch->Find(kOurs, now);
      if (found.size() == gpus) return found;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }
  // Waits until `watch` knows what there is. It learns of objects a moment before it says that it knows all.
  static void AwaitKnown(const DraWatch& watch) {
    while (!watch.known()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  kube::Server server_;
};

TEST_F(DraWatchTest, ADriverIsSeenWithItsClaimsAndForgottenAMinuteAfterItsSlices) {
  server_.Answer({.body = R"({"versions": [{"version": "v1"}]})", .to = "GET /apis/resource.k8s.io HTTP"});
  const json slice = Slice("gpu.nvidia.com", {{"gpu-0", "GPU-a"}, {"gpu-1", "GPU-b"}});
  server_.Answer(
      {.body = ListOf({slice}), .to = "/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1&limit"});
  server_.Answer(
      {.body = "", .open = true, .to = "/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1&watch=1"});
  server_.Answer({.body = ListOf({Claim("gpu-1")}), .to = "/v1/resourceclaims?limit"});
  server_.Answer({.body = "", .open = true, .to = "/v1/resourceclaims?watch=1"});
  const auto watch = Start();
  const std::int64_t begin = base::MonotonicNs();
  EXPECT_EQ(Await(watch.get(), 2, begin).at("GPU-a").text, kGivesOut);
  AwaitKnown(*watch);
  while (watch->Find(kOurs, begin).at("GPU-b").text == kGivesOut) std::this_thread::yield();  // claims come
  server_.Say(json({{"type", "DELETED"}, {"object", slice}}).dump() + "\n",
              "/v1/resourceslices?fieldSelector=spec.nodeName%3Dn1&watch=1");
  // A look before the deletion arrives still sees the slice, and counts the minute from then.
  const auto left = Await(watch.get(), 1, begin, 2 * DraWatch::kStays);
  EXPECT_THAT(left.at("GPU-b").text, HasSubstr("has given it to ResourceClaim team/c"));
  server_.Say(json({{"type", "DELETED"}, {"object", Claim("gpu-1")}}).dump() + "\n",
              "/v1/resourceclaims?watch=1");
  Await(watch.get(), 0, begin, 2 * DraWatch::kStays);
}

TEST_F(DraWatchTest, AServerWithoutTheApiHasNoDrivers) {
  server_.Answer(404, "");
  const auto watch = Start();
  AwaitKnown(*watch);
  EXPECT_THAT(watch->Find(kOurs, 0), IsEmpty());
}

}  // namespace
}  // namespace crossover::deviceplugin
