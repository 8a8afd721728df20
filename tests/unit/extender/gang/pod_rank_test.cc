#include "extender/gang/pod_rank.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace crossover::extender {
namespace {

Pod RankedPod(const std::string& name, Labels labels, const std::string& owner = "") {
  Pod pod;
  pod.uid = "uid-" + name;
  pod.name_space = "team";
  pod.name = name;
  pod.labels = std::move(labels);
  if (!owner.empty()) pod.owner = Owner{"kubeflow.org/v1", owner, "job", "uid-owner"};
  return pod;
}

// Shuffles the pods, sorts them by rank, and returns their names.
std::string Sorted(std::vector<Pod> pods) {
  std::mt19937 random(7);
  std::ranges::shuffle(pods, random);
  std::ranges::sort(pods, [](const Pod& a, const Pod& b) { return RankOf(a) < RankOf(b); });
  std::string names;
  for (const Pod& pod : pods) names += pod.name + " ";
  return names;
}

TEST(PodRank, WithoutLabelsNamesCountTheShorterOnesFirst) {
  EXPECT_EQ(Sorted({RankedPod("a-10", {}), RankedPod("a-2", {}), RankedPod("a-1", {}), RankedPod("b-1", {})}),
            "a-1 a-2 b-1 a-10 ");
}

TEST(PodRank, IndexedJob) {
  const auto pod = [](const std::string& name, const std::string& index) {
    return RankedPod(name, {{"batch.kubernetes.io/job-name", "j"},
                            {"batch.kubernetes.io/controller-uid", "u"},
                            {"batch.kubernetes.io/job-completion-index", index}});
  };
  EXPECT_EQ(Sorted({pod("x-zz", "0"), pod("x-aa", "2"), pod("x-mm", "10"), pod("x-kk", "1")}),
            "x-zz x-kk x-aa x-mm ");
  EXPECT_EQ(Sorted({pod("bad", "one"), pod("worse", "-1"), pod("x-aa", "2")}), "x-aa bad worse ");
}

TEST(PodRank, JobSet) {
  const auto pod = [](const std::string& name, const std::string& part, const char* job, const char* index,
                      const char* global) {
    Labels labels = {{"jobset.sigs.k8s.io/jobset-name", "s"},
                     {"jobset.sigs.k8s.io/replicatedjob-name", part},
                     {"jobset.sigs.k8s.io/job-index", job},
                     {"batch.kubernetes.io/job-completion-index", index}};
    if (*global != '\0') labels["jobset.sigs.k8s.io/job-global-index"] = global;
    return RankedPod(name, std::move(labels));
  };
  // The parts of a JobSet are in the order of their global indices, whatever their names are.
  EXPECT_EQ(Sorted({pod("a", "zeta", "0", "0", "0"), pod("b", "zeta", "0", "1", "0"),
                    pod("c", "alpha", "0", "0", "1"), pod("d", "alpha", "1", "0", "2")}),
            "a b c d ");
  // JobSet before 0.6 has no global index: its parts are in the order of their names.
  EXPECT_EQ(Sorted({pod("c", "zeta", "0", "0", ""), pod("b", "alpha", "1", "0", ""),
                    pod("a", "alpha", "0", "11", "")}),
            "a b c ");
}

TEST(PodRank, LeaderWorkerSetHasItsLeaderFirst) {
  const auto pod = [](const std::string& index) {
    return RankedPod("pod" + index, {{"leaderworkerset.sigs.k8s.io/name", "l"},
                                     {"leaderworkerset.sigs.k8s.io/group-index", "0"},
                                     {"leaderworkerset.sigs.k8s.io/worker-index", index}});
  };
  EXPECT_EQ(Sorted({pod("10"), pod("2"), pod("0"), pod("1")}), "pod0 pod1 pod2 pod10 ");
}

TEST(PodRank, TrainingJobsHaveTheirMasterFirst) {
  const auto pod = [](const std::string& name, const std::string& type, const std::string& index) {
    return RankedPod(name,
                     {{"training.kubeflow.org/job-name", "job"},
                      {"training.kubeflow.org/replica-type", type},
                      {"training.kubeflow.org/replica-index", index}},
                     "PyTorchJob");
  };
  EXPECT_EQ(Sorted({pod("d", "worker", "10"), pod("c", "worker", "2"), pod("b", "worker", "0"),
                    pod("z", "master", "0")}),
            "z b c d ");
}

TEST(PodRank, StatefulSetsSayAnIndexToo) {
  const auto pod = [](const std::string& name, const std::string& index) {
    return RankedPod(name, {{"apps.kubernetes.io/pod-index", index}});
  };
  EXPECT_EQ(Sorted({pod("b-7", "1"), pod("a-8", "2")}), "b-7 a-8 ");
}

TEST(PodRank, APodComesInThePlaceOfTheOneWithItsIndex) {
  const auto rank = [](const std::string& name, const std::string& index) {
    Labels labels;
    if (!index.empty()) labels["apps.kubernetes.io/pod-index"] = index;
    return RankOf(RankedPod(name, std::move(labels)));
  };
  EXPECT_TRUE(StandsFor(rank("a", "1"), rank("b", "1")));
  EXPECT_FALSE(StandsFor(rank("a", "1"), rank("a", "2")));
  EXPECT_TRUE(StandsFor(rank("a", ""), rank("a", "")));
  EXPECT_FALSE(StandsFor(rank("a", ""), rank("b", "")));
  EXPECT_FALSE(StandsFor(rank("a", ""), rank("a", "0")));
}

}  // namespace
}  // namespace crossover::extender
