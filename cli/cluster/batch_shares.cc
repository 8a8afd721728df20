#include "cli/cluster/batch_shares.h"

#include <map>
#include <utility>

#include "cli/cluster/explain.h"
#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/base/names.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

using kube::At;

// Returns what the pod's node reports of the pod's ranks, by their numbers.
std::map<std::int64_t, json> RanksOf(const json& pod, const json& gpu_nodes) {
  std::map<std::int64_t, json> ranks;
  for (const json& node : gpu_nodes) {
    if (NameOf(node) != NodeOf(pod)) continue;
    for (const json& job : ListAt(node, {"status", "jobs"})) {
      if (TextAt(job, {"namespace"}) != NamespaceOf(pod)) continue;
      for (const json& rank : ListAt(job, {"ranks"})) {
        const json& number = At(rank, "rank");
        if (TextAt(rank, {"pod"}) != NameOf(pod) || !number.is_number_integer()) continue;
        json entry = {{"rank", number}};
        for (const char* key : {"computeSeconds", "waitSeconds"}) {
          if (At(rank, key).is_number()) entry[key] = At(rank, key);
        }
        ranks[number.get<std::int64_t>()] = std::move(entry);
      }
    }
  }
  return ranks;
}

std::string Milliseconds(const json& rank, const char* key) {
  const json& value = At(rank, key);
  return value.is_number() ? Number(value.get<double>() * 1e3, 1) + " ms" : "";
}

std::string RankText(const json& rank) {
  const std::string compute = Milliseconds(rank, "computeSeconds"), wait = Milliseconds(rank, "waitSeconds");
  return "  rank " + std::to_string(At(rank, "rank").get<std::int64_t>()) + ": " +
         (compute.empty() ? "not known" : "compute " + compute) +
         (wait.empty() ? "" : ", waits " + wait + " for its turn") + "\n";
}

}  // namespace

void ExplainShares(const json& pods, const json& gpu_nodes, json* explanation) {
  auto gangs = GangsByPod(*explanation);
  json found = json::object();
  std::map<std::string, std::map<std::int64_t, json>> ranks;
  for (const json& pod : pods) {
    const std::string& gang = gangs[FullName(pod)];
    if (gang.empty() || IsOver(pod) || AnnotationOf(pod, base::kBatchSharesAnnotation) != "true") continue;
    const std::string weights = AnnotationOf(pod, base::kWeightsAnnotation);
    if (!found.contains(gang)) found[gang] = {{"weights", weights}, {"agree", true}};
    if (found[gang]["weights"] != weights) found[gang]["agree"] = false;
    ranks[gang].merge(RanksOf(pod, gpu_nodes));
  }
  for (auto& [gang, shares] : found.items()) {
    shares["ranks"] = json::array();
    for (const auto& [number, rank] : ranks[gang]) shares["ranks"].push_back(rank);
  }
  if (!found.empty()) (*explanation)["shares"] = std::move(found);
}

std::string SharesText(const json& shares) {
  if (!shares.is_object()) return "";
  std::string text = "  parts of the batch: ";
  if (At(shares, "agree") == json(false)) {
    text += "the pods of the gang do not all have the same weights yet\n";
  } else if (const std::string weights = TextAt(shares, {"weights"}); weights.empty()) {
    text += "equal, as no weights are written yet\n";
  } else {
    text += "weights " + weights + "\n";
  }
  for (const json& rank : ListAt(shares, {"ranks"})) text += RankText(rank);
  return text;
}

}  // namespace crossover::cli
