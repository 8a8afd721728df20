#include "extender/gang/pod_order.h"

#include <gtest/gtest.h>

namespace crossover::extender {
namespace {

Pod PodOf(const std::string& name, const char* name_space = "team", const char* index = nullptr) {
  Pod pod;
  pod.uid = std::string(name_space) + "-" + name;
  pod.name_space = name_space;
  pod.name = name;
  if (index != nullptr) pod.labels["apps.kubernetes.io/pod-index"] = index;
  return pod;
}

GpuNode::Job JobWith(const std::vector<std::string>& pods) {
  GpuNode::Job job;
  job.name_space = "team";
  for (const std::string& pod : pods) job.communication.push_back({.pod = pod});
  return job;
}

std::size_t Place(const PodOrder& order, const char* pod) { return order.at({"team", pod}); }

TEST(PodOrderTest, IsThatOfRanks) {
  ClusterCache cache;
  for (const char* name : {"w-10", "w-2", "w-1", "another"}) cache.Put(PodOf(name));
  cache.Put(PodOf("w-2", "other"));
  const PodOrder order =
      OrderOf(cache, std::vector{JobWith({"w-10", "w-1"}), JobWith({"w-2", "w-1", "gone"})});
  EXPECT_EQ(order.size(), 3u) << "those of the jobs that are known";
  EXPECT_LT(Place(order, "w-1"), Place(order, "w-2"));
  EXPECT_LT(Place(order, "w-2"), Place(order, "w-10"));
}

TEST(PodOrderTest, IndicesCountForMoreThanNames) {
  ClusterCache cache;
  cache.Put(PodOf("a", "team", "1"));
  cache.Put(PodOf("b", "team", "0"));
  const PodOrder order = OrderOf(cache, std::vector{JobWith({"a", "b"})});
  EXPECT_LT(Place(order, "b"), Place(order, "a"));
  EXPECT_TRUE(OrderOf(cache, std::vector{JobWith({})}).empty());
}

}  // namespace
}  // namespace crossover::extender
