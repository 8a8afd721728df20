#include "common/kube/pod_requests.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace crossover::kube {
namespace {

using nlohmann::json;

json Container(const char* name, const char* cpu, const char* memory) {
  return {{"name", name}, {"resources", {{"requests", {{"cpu", cpu}, {"memory", memory}}}}}};
}
json Sidecar(const char* name, const char* cpu, const char* memory) {
  json container = Container(name, cpu, memory);
  container["restartPolicy"] = "Always";
  return container;
}
json Pod(std::vector<json> init, std::vector<json> containers) {
  return {{"spec", {{"initContainers", std::move(init)}, {"containers", std::move(containers)}}}};
}

TEST(PodRequestsTest, ContainersTogether) {
  json pod = Pod({}, {Container("a", "500m", "1Gi"), Container("b", "1", "1Gi")});
  pod["spec"]["containers"][0]["resources"]["requests"]["crossover.dev/slot"] = "1";
  const Requests requests = RequestsOf(pod);
  EXPECT_EQ(requests.milli_cpu, 1500);
  EXPECT_EQ(requests.memory_bytes, 2LL << 30);
  EXPECT_EQ(requests.others, (std::map<std::string, std::int64_t>{{"crossover.dev/slot", 1}}));
}

TEST(PodRequestsTest, OneThatInitialisesCountsWhereItNeedsMore) {
  const json pod =
      Pod({Container("i", "4", "1Mi"), Container("j", "3", "8Gi")}, {Container("a", "1", "1Gi")});
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 4000) << "they run one after the other";
  EXPECT_EQ(RequestsOf(pod).memory_bytes, 8LL << 30);
}

TEST(PodRequestsTest, SidecarsStayAndAreThereForThoseAfterThem) {
  const json before =
      Pod({Sidecar("s", "2", "1Gi"), Container("i", "4", "1Mi")}, {Container("a", "1", "1Gi")});
  EXPECT_EQ(RequestsOf(before).milli_cpu, 6000) << "the sidecar is there when i runs";
  EXPECT_EQ(RequestsOf(before).memory_bytes, 2LL << 30);
  const json after =
      Pod({Container("i", "4", "1Mi"), Sidecar("s", "2", "1Gi")}, {Container("a", "1", "1Gi")});
  EXPECT_EQ(RequestsOf(after).milli_cpu, 4000) << "and not yet";
}

TEST(PodRequestsTest, OverheadAndWhatThePodAsksAsAWhole) {
  json pod = Pod({}, {Container("a", "1", "1Gi")});
  pod["spec"]["overhead"] = {{"cpu", "250m"}, {"memory", "1Gi"}};
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 1250);
  EXPECT_EQ(RequestsOf(pod).memory_bytes, 2LL << 30);
  pod["spec"]["resources"]["requests"]["cpu"] = "2";
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 2250);
  EXPECT_EQ(RequestsOf(pod).memory_bytes, 2LL << 30);
}

TEST(PodRequestsTest, HugePagesThatThePodAsksForAsAWholeReplaceThoseOfItsContainers) {
  json pod = Pod({}, {Container("a", "1", "1Gi")});
  pod["spec"]["containers"][0]["resources"]["requests"]["hugepages-2Mi"] = "64Mi";
  pod["spec"]["resources"]["requests"] = {{"hugepages-2Mi", "256Mi"}, {"crossover.dev/slot", "7"}};
  const Requests requests = RequestsOf(pod);
  EXPECT_EQ(requests.others.at("hugepages-2Mi"), 256LL << 20);
  EXPECT_FALSE(requests.others.contains("crossover.dev/slot")) << "a pod has no such request as a whole";
}

TEST(PodRequestsTest, WhileItIsResizedTheGreaterCounts) {
  json pod = Pod({}, {Container("a", "1", "1Gi")});
  pod["status"]["containerStatuses"] = {
      {{"name", "a"}, {"resources", {{"requests", {{"cpu", "3"}, {"memory", "1Mi"}}}}}}};
  EXPECT_EQ(RequestsOf(pod).milli_cpu, 3000);
  EXPECT_EQ(RequestsOf(pod).memory_bytes, 1LL << 30);
}

TEST(PodRequestsTest, OddPartsAreNothing) {
  for (const char* text :
       {"null", "3", R"({"spec": 1})", R"({"spec": {"containers": [1, null, {"resources": []}]}})",
        R"({"spec": {"containers": [{"resources": {"requests": {"cpu": "x", "memory": -1}}}]}})"})
    EXPECT_EQ(RequestsOf(json::parse(text)), Requests{}) << text;
}

}  // namespace
}  // namespace crossover::kube
