#include "extender/admission/shrink.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "common/annotations/domain.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/base/shrink_choice.h"
#include "common/base/shrink_level.h"
#include "common/kube/json.h"
#include "extender/admission/edit_json.h"

namespace crossover::extender::admission {
namespace {

using annotations::Shown;
using kube::At;
using kube::Text;
using nlohmann::json;

constexpr char kPreload[] = "LD_PRELOAD";
constexpr std::string_view kSeparators = " :";  // of the dynamic loader

std::string PathOf(const char* name) { return std::string(base::kLibraryDirectory) + "/" + name; }

// Returns the last variable of this name, which is the one that counts, or null.
const json* FindVariable(const json& container, const char* name) {
  const json* found = nullptr;
  for (const json& variable : kube::ListAt(container, "env")) {
    if (Text(At(variable, "name")) == name) found = &variable;
  }
  return found;
}

// Returns the words for the levels that an administrator allows.
std::string InWords(const std::vector<std::string>& allowed) {
  if (allowed.empty()) return "off, because webhook.shrink of the extender allows no level";
  std::string words = "off";
  for (const std::string& level : allowed) words += (&level == &allowed.back() ? " or " : ", ") + level;
  return words + ", as webhook.shrink of the extender says";
}

}  // namespace

std::string ShrinkLevelOf(const json& pod) {
  const annotations::Annotations ours = annotations::OursOf(pod, "annotations");
  const auto found = ours.find(base::kShrinkAnnotation);
  if (found == ours.end()) return "";
  const base::ShrinkLevelName* row = base::ShrinkLevelOf(found->second.c_str());
  return row == nullptr || row->level == base::ShrinkLevel::kOff ? "" : row->name;
}

std::optional<std::string> RefusalOfShrink(const json& pod, const AllowedShrinkLevels& allowed) {
  const std::string level = ShrinkLevelOf(pod);
  if (level.empty()) return std::nullopt;
  if (allowed && std::ranges::find(*allowed, level) == allowed->end())
    return base::Refusal(base::kShrinkAnnotation, InWords(*allowed), level);
  if (annotations::OursOf(pod, "annotations").contains(base::kShareAnnotation)) return std::nullopt;
  const std::string why = std::string("true or exclusive, as the pod has ") + base::kShrinkAnnotation;
  return base::Refusal(base::kShareAnnotation, why, "none");
}

std::optional<std::string> WhyNotPreloaded(const json& container) {
  const json* variable = FindVariable(container, kPreload);
  if (variable == nullptr || !variable->contains("valueFrom")) return std::nullopt;
  return "container " + Shown(Text(At(container, "name"))) + ": " +
         base::Refusal(kPreload,
                       std::string("a value, as ") + base::kShrinkAnnotation + " puts libraries before it",
                       "valueFrom");
}

void PreloadShrink(const std::string& level, json* container) {
  const std::string ours[] = {PathOf(base::kShrinkLibraryName), PathOf(base::kLibraryName)};
  std::string preload = ours[0] + ":" + ours[1];
  const json* variable = FindVariable(*container, kPreload);
  const std::string theirs = variable == nullptr ? "" : Text(At(*variable, "value"));
  for (std::size_t begin = 0; begin < theirs.size();) {
    const std::size_t end = std::min(theirs.find_first_of(kSeparators, begin), theirs.size());
    const std::string path = theirs.substr(begin, end - begin);
    if (!path.empty() && std::ranges::find(ours, path) == std::end(ours)) preload += ":" + path;
    begin = end + 1;
  }
  json& environment = Made(container, "env", json::value_t::array);
  PutNamed({{"name", base::kShrinkVariable}, {"value", level}}, &environment);
  const base::ShrinkLevelName* row = base::ShrinkLevelOf(level.c_str());
  if (row != nullptr && row->level == base::ShrinkLevel::kAuto) {
    const std::string path = std::string("metadata.annotations['") + base::kShrinkChoiceAnnotation + "']";
    PutNamed({{"name", base::kShrinkChoiceVariable},
              {"valueFrom", {{"fieldRef", {{"apiVersion", "v1"}, {"fieldPath", path}}}}}},
             &environment);
  }
  PutNamed({{"name", kPreload}, {"value", preload}}, &environment);
}

}  // namespace crossover::extender::admission
