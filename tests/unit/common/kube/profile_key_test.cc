#include "common/kube/profile_key.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace crossover::kube {
namespace {

using nlohmann::json;

json Pod(const std::string& job, const std::string& argument = "--layers=24") {
  return {{"metadata", {{"name", job + "-0-abcde"}, {"labels", {{"batch.kubernetes.io/job-name", job}}}}},
          {"spec",
           {{"containers",
             {{{"name", "main"},
               {"image", "train:1"},
               {"args", {argument}},
               {"resources", {{"limits", {{"crossover.dev/slot", "1"}}}}}}}}}}};
}

TEST(ProfileKeyTest, TheAnnotationSaysIt) {
  json pod = Pod("train");
  pod["metadata"]["annotations"]["crossover.dev/profile-key"] = "bert";
  EXPECT_EQ(ProfileKeyOf(pod), "bert");
  pod["metadata"]["annotations"]["crossover.dev/profile-key"] = std::string(1000, 'x');
  EXPECT_EQ(ProfileKeyOf(pod).size(), kLongestProfileKey);
  std::string wide;
  while (wide.size() < 1000) wide += "\xe2\x82\xac";
  pod["metadata"]["annotations"]["crossover.dev/profile-key"] = wide;
  EXPECT_NO_THROW(json(ProfileKeyOf(pod)).dump()) << "is cut between letters";
}

TEST(ProfileKeyTest, RunsOfOneJobHaveTheSame) {
  const std::string key = ProfileKeyOf(Pod("train"));
  EXPECT_TRUE(key.starts_with("train-")) << key;
  EXPECT_EQ(ProfileKeyOf(Pod("train-28391520")), key) << "a CronJob's number";
  EXPECT_EQ(ProfileKeyOf(Pod("train-x7k2p")), key) << "a generated name";
  EXPECT_EQ(ProfileKeyOf(Pod("train-28391520-x7k2p")), key);
  json rank = Pod("train");
  rank["metadata"]["name"] = "train-1-fghij";
  rank["spec"]["containers"][0]["env"] = {{{"name", "RANK"}, {"value", "1"}}};
  EXPECT_EQ(ProfileKeyOf(rank), key) << "as has another rank";
}

TEST(ProfileKeyTest, OtherJobsHaveOthers) {
  const std::string key = ProfileKeyOf(Pod("train"));
  EXPECT_NE(ProfileKeyOf(Pod("train", "--layers=48")), key);
  EXPECT_NE(ProfileKeyOf(Pod("train-large")), key) << "a word is no ending of one run";
  json other = Pod("train");
  other["spec"]["containers"][0]["image"] = "train:2";
  EXPECT_NE(ProfileKeyOf(other), key);
  other = Pod("train");
  other["metadata"]["annotations"]["crossover.dev/gang-size"] = "8";
  EXPECT_NE(ProfileKeyOf(other), key);
  other = Pod("train");
  other["spec"]["containers"].push_back({{"name", "log"}, {"image", "log:7"}});
  EXPECT_EQ(ProfileKeyOf(other), key) << "what has no slot does not compute";
}

TEST(ProfileKeyTest, CompressedReductionsHaveAKeyOfTheirOwn) {
  json pod = Pod("train");
  const std::string plain = ProfileKeyOf(pod);
  const auto key = [&pod](const char* asked, const char* chosen = nullptr) {
    pod["metadata"]["annotations"] = {{"crossover.dev/shrink", asked}};
    if (chosen != nullptr) pod["metadata"]["annotations"]["crossover.dev/status-shrink"] = chosen;
    return ProfileKeyOf(pod);
  };
  for (const char* level : {"off", "advise", "other"}) EXPECT_EQ(key(level), plain) << level;
  for (const char* level : {"bf16", "q8", "adaptive"}) {
    EXPECT_EQ(key(level), plain + "+" + level);
    EXPECT_EQ(WithoutLevel(key(level)), plain);
  }
  EXPECT_EQ(key("auto"), plain) << "no level is chosen yet";
  EXPECT_EQ(key("auto", "off:not_needed"), plain);
  EXPECT_EQ(key("auto", "q8"), plain + "+q8");
  EXPECT_EQ(key("bf16", "q8"), plain + "+bf16") << "the owner names it";
  pod["metadata"]["annotations"]["crossover.dev/profile-key"] = "bert";
  EXPECT_EQ(ProfileKeyOf(pod), "bert+bf16");
  pod["metadata"]["annotations"]["crossover.dev/profile-key"] = std::string(kLongestProfileKey, 'x');
  EXPECT_EQ(ProfileKeyOf(pod).size(), kLongestProfileKey);
  EXPECT_EQ(WithoutLevel("a+b"), "a+b");
  EXPECT_EQ(WithoutLevel("a+off"), "a+off");
}

// Arbiters take turns by these names. All ranks of a job have to have one name, and no two jobs may have
// the same.
TEST(JobNamedByTest, AllRanksOfAJobHaveOneName) {
  const auto replica = [](const char* group, const char* worker) {
    return json{{"leaderworkerset.sigs.k8s.io/name", "set"},
                {"leaderworkerset.sigs.k8s.io/group-index", group},
                {"leaderworkerset.sigs.k8s.io/worker-index", worker}};
  };
  EXPECT_EQ(JobNamedBy(replica("0", "0")), JobNamedBy(replica("0", "1")));
  EXPECT_NE(JobNamedBy(replica("0", "0")), JobNamedBy(replica("1", "0")));
  json one = Pod("any"), other = Pod("any");
  one["metadata"]["labels"] = replica("0", "0");
  other["metadata"]["labels"] = replica("1", "0");
  EXPECT_EQ(ProfileKeyOf(one), ProfileKeyOf(other)) << "they do the same";
  using Labels = std::map<std::string, std::string>;
  const std::vector<std::pair<Labels, std::string>> named = {
      {{{"kueue.x-k8s.io/pod-group-name", "group"}}, "group"},
      {{{"jobset.sigs.k8s.io/jobset-name", "s"}, {"batch.kubernetes.io/job-name", "s-part-0"}}, "s"},
      {{{"leaderworkerset.sigs.k8s.io/name", "l"}, {"leaderworkerset.sigs.k8s.io/group-index", "2"}}, "l-2"},
      {{{"app", "x"}}, ""}};
  for (const auto& [labels, name] : named) {
    EXPECT_EQ(JobNamedBy(labels), name);
    EXPECT_EQ(JobNamedBy(json(labels)), name);
  }
}

TEST(ProfileKeyTest, OddPods) {
  EXPECT_LE(ProfileKeyOf(Pod(std::string(1000, 'x'))).size(), kLongestProfileKey);
  for (const char* text : {"null", "3", "{}", R"({"metadata": {"labels": 3}})"})
    EXPECT_EQ(ProfileKeyOf(json::parse(text)), "") << text;
  EXPECT_FALSE(
      ProfileKeyOf(json::parse(R"({"metadata": {"name": "p"}, "spec": {"containers": [7]}})")).empty());
  EXPECT_TRUE(ProfileKeyOf(json::parse(R"({"metadata": {"name": "123"}})")).starts_with("123-"));
}

}  // namespace
}  // namespace crossover::kube
