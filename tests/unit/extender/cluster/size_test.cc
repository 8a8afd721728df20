// Measures the memory that the model of a large cluster takes: 5,000 nodes with 8 GPUs each, and 40,000
// slots, each used by one pod.
#include <gtest/gtest.h>
#include <malloc.h>

#include <nlohmann/json.hpp>

#include "common/kube/json_filter.h"
#include "extender/cluster/cluster_cache.h"
#include "tests/unit/common/api/golden.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

constexpr int kNodes = 5000, kGpus = 8, kPodsOfNode = 8;
constexpr std::size_t kMost = 240u << 20;  // of 300 MiB; the rest is for placing gangs

std::size_t Used() {
  const struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

// Returns a node that is labelled as real nodes are, by kubelets and by programs that look for GPUs.
json LargeNode() {
  json node = json::parse(api::kGoldenNode);
  for (int i = 0; i < 40; ++i)
    node["metadata"]["labels"]["nvidia.com/gpu.some-property-" + std::to_string(i)] = "NVIDIA-A100-SXM4-80GB";
  for (int i = 0; i < 50; ++i) {
    node["status"]["images"].push_back(
        {{"names",
          {"registry.example/team/project/image-" + std::to_string(i) + "@sha256:" + std::string(64, 'a')}},
         {"sizeBytes", 1 << 30}});
  }
  return node;
}

json LargePod() {
  json pod = json::parse(api::kGoldenPod);
  pod["metadata"]["ownerReferences"] = {{{"apiVersion", "batch/v1"},
                                         {"kind", "Job"},
                                         {"name", "train"},
                                         {"uid", std::string(36, 'u')},
                                         {"controller", true}}};
  for (int i = 0; i < 10; ++i)
    pod["metadata"]["labels"]["jobset.sigs.k8s.io/some-label-" + std::to_string(i)] =
        "of-a-job-with-a-long-name";
  pod["metadata"]["annotations"]["kubectl.kubernetes.io/last-applied-configuration"] = std::string(4000, 'x');
  pod["metadata"]["annotations"]["crossover.dev/assignment"] = std::string(120, 'x');
  return pod;
}

json GpuNodeOf() {
  json node = {{"metadata", {{"name", "n"}}}, {"status", {{"mode", "enforce"}}}};
  for (int i = 0; i < kGpus; ++i) {
    node["status"]["gpus"].push_back({{"uuid", "GPU-" + std::string(35, static_cast<char>('a' + i))},
                                      {"memoryBytes", 80ull << 30},
                                      {"slots", 2},
                                      {"healthy", true},
                                      {"holders",
                                       {{{"namespace", "some-namespace"},
                                         {"pod", "some-job-with-a-name-worker-0-abcde"},
                                         {"container", "trainer"},
                                         {"slots", {"GPU::0"}}}}}});
  }
  return node;
}

TEST(SizeTest, ALargeClusterFits) {
  const Node node = api::ParseNode(LargeNode()).value();
  const Pod pod = api::ParsePod(LargePod()).value();
  const GpuNode gpus = api::ParseGpuNode(GpuNodeOf()).value();
  ClusterCache cache;
  const std::size_t before = Used();
  for (int i = 0; i < kNodes; ++i) {
    Node one = node;
    one.name = "node-with-some-name-" + std::to_string(i);
    GpuNode its_gpus = gpus;
    its_gpus.name = one.name;
    for (int j = 0; j < kPodsOfNode; ++j) {
      Pod on_it = pod;
      on_it.uid = std::to_string(i * kPodsOfNode + j) + "-3fbc-4ed9-4d22-8b78-523e4b79f042";
      on_it.node = one.name;
      cache.Put(std::move(on_it));
    }
    cache.Put(std::move(one));
    cache.Put(std::move(its_gpus));
  }
  const std::size_t used = Used() - before;
  RecordProperty("mib", static_cast<int>(used >> 20));
  EXPECT_EQ(cache.pods().size(), static_cast<std::size_t>(kNodes * kPodsOfNode));
  EXPECT_LT(used, kMost) << (used >> 20) << " MiB";
}

// A model that kept whole pods would not fit.
TEST(SizeTest, WholeObjectsWouldNot) {
  constexpr std::size_t kSome = 50;
  const json pod = LargePod();
  std::vector<json> kept;
  kept.reserve(kSome);
  const std::size_t before = Used();
  for (std::size_t i = 0; i < kSome; ++i) kept.push_back(pod);
  const std::size_t each = (Used() - before) / kSome;
  EXPECT_GT(each * kPodsOfNode * kNodes, kMost);
}

}  // namespace
}  // namespace crossover::extender
