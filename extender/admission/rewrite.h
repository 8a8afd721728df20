// Decides what happens to a pod that is about to be created. Pure.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "extender/admission/limits.h"
#include "extender/admission/patch.h"
#include "extender/admission/review.h"
#include "extender/admission/shrink.h"

namespace crossover::extender::admission {

// RewriteSettings say what becomes of a pod that shares.
struct RewriteSettings {
  std::vector<std::string> whole_gpus = {"nvidia.com/gpu"};  // resources whose units become one slot each
  nlohmann::json tolerations = nlohmann::json::array();      // added to pods that share
  std::string runtime_class;                                 // for sharing pods that name none; empty: none
  bool node_shm = false;  // volumes at /dev/shm of containers with GPUs are moved out of the way
  // Adds the annotations by which Cluster Autoscaler, Karpenter and the Descheduler leave a running pod where
  // it is.
  bool protect_from_autoscalers = true;
  // Says whether jobs share through MPS on some node. Null: it is not known. Any thread calls it; it must not
  // block.
  std::function<bool()> mps_somewhere = nullptr;
  // Says what the pod's user should know if the pod's gang is not known, or "". Null: nothing is said. Any
  // thread calls it; it must not block.
  std::function<std::string(const nlohmann::json& pod, const std::string& name_space)> about_gang = nullptr;
  // The labels that crossover.dev/within may name. None: any label.
  std::optional<std::vector<std::string>> topology = std::nullopt;
  AllowedShrinkLevels shrink = std::nullopt;
  Differ differ = nullptr;  // makes the patches
};

// An Outcome says what became of a review.
enum class Outcome {
  kUntouched,    // the pod does not share
  kRewritten,    // the pod shares; it was rewritten, or was right already
  kLeftAlone,    // the pod wants to share, but Crossover's scheduler does not place it
  kRefused,      // the pod says something that a rule, a ResourceQuota or a LimitRange refuses
  kNotReady,     // something is not known yet; the same pod may be admitted later
  kUnpatchable,  // admitted unchanged, because the patch would not apply
  kMalformed     // the body is not a review that can be read
};
// Returns the word for the outcome in the metrics.
const char* NameOf(Outcome outcome);

struct Decision {
  Outcome outcome = Outcome::kUntouched;
  Verdict verdict;
};

// Returns the decision for a pod of namespace `name_space`. A pod that was patched before gets the same
// decision, with an empty patch.
Decision Rewrite(const nlohmann::json& pod, const std::string& name_space, const RewriteSettings& settings,
                 const LimitsLookup& limits);

}  // namespace crossover::extender::admission
