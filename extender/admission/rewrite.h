// What becomes of a pod that is about to be made. Pure.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "extender/admission/patch.h"
#include "extender/admission/review.h"

namespace crossover::extender::admission {

struct RewriteSettings {
  std::vector<std::string> whole_gpus = {"nvidia.com/gpu"};  // resources that become slots, one for each unit
  nlohmann::json tolerations = nlohmann::json::array();      // added to pods that share
  std::string runtime_class;                                 // of pods that share and name none; empty: none
  Differ differ = nullptr;                                   // by which patches are made
};

// Which resources the quotas of a namespace limit, such as requests.nvidia.com/gpu. Nothing: not known yet.
using QuotaLookup = std::function<std::optional<std::set<std::string>>(const std::string& name_space)>;

// In words of metrics, each once.
enum class Outcome {
  kUntouched,    // it does not share
  kRewritten,    // or was as it should be
  kLeftAlone,    // it wants to share, and somebody else places it
  kRefused,      // for what it says
  kNotReady,     // something is not known yet; the same pod may be admitted later
  kUnpatchable,  // admitted as it was, because its patch would not have applied
  kMalformed     // no review, or none that can be read
};
const char* NameOf(Outcome outcome);

struct Decision {
  Outcome outcome = Outcome::kUntouched;
  Verdict verdict;
};

// Of a pod in a namespace. The same for a pod that was patched so before: then the patch is empty.
Decision Rewrite(const nlohmann::json& pod, const std::string& name_space, const RewriteSettings& settings,
                 const QuotaLookup& quotas);

}  // namespace crossover::extender::admission
