#include "common/annotations/rules.h"

#include <algorithm>
#include <vector>

#include "common/annotations/domain.h"
#include "common/base/job_environment.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/base/shrink_level.h"

namespace crossover::annotations {
namespace {

using base::Same;

bool IsAlphanumeric(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// Returns whether `part` has 1 to `most` characters of a label key, and a letter or digit at both ends.
bool IsPartOfKey(std::string_view part, std::size_t most) {
  constexpr std::string_view kBetween = "-_.";
  return !part.empty() && part.size() <= most && IsAlphanumeric(part.front()) &&
         IsAlphanumeric(part.back()) && std::ranges::all_of(part, [=](char c) {
           return IsAlphanumeric(c) || kBetween.find(c) != std::string_view::npos;
         });
}

// Returns whether `text` is the key of a label: a name, or the prefix of a domain, a slash and a name.
bool IsLabelKey(const char* text) {
  const std::string_view key = text;
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return IsPartOfKey(key, 63);
  return IsPartOfKey(key.substr(0, slash), 253) && IsPartOfKey(key.substr(slash + 1), 63);
}

constexpr char kPrintable[] = "1 to 127 printable ASCII characters without spaces";

// The comment above each rule says what the annotation does, and after "Default:" what holds without it.
// tools/annotations_reference.py copies these comments into docs/annotations.md.
constexpr Rule kOfPods[] = {
    // Opts the pod in; with `exclusive` no other job shares its GPUs. Default: Crossover does not manage
    // the pod.
    {base::kShareAnnotation, [](const char* text) { return Same(text, "true") || Same(text, "exclusive"); },
     "true or exclusive"},
    // Names the job: pods of one namespace with the same value are one job. Default: taken from the JobSet,
    // LeaderWorkerSet, training job or Job that created them, or from Kueue's group.
    {base::kGangAnnotation, base::IsGang, kPrintable},
    // Says how many pods the job has. Default: taken from the same objects.
    {base::kGangSizeAnnotation, base::IsGangSize, "a number of pods from 1 to 1000000"},
    // Limits how much memory of each GPU the pod may have; an allocation beyond it fails as if the GPU were
    // full. Default: the peak in the job's profile plus a tenth; without a profile the pod runs alone.
    {base::kGpuMemoryAnnotation, base::IsGpuMemory,
     "a whole number of bytes, or one with K, M, G, T, Ki, Mi, Gi or Ti, from 16Mi to 1024Ti"},
    // Says which runs are alike: what was measured in one run is expected of the next run with the same
    // key. Default: made from owner, image, command, slots and size.
    {base::kProfileKeyAnnotation, base::IsGang, kPrintable},
    // Sets the priority; the waiting job with the highest gets the turn. Default: normal.
    {base::kTurnPriorityAnnotation, base::IsPriority, "high, normal or low"},
    // Caps the slowdown: the time of an iteration over its time alone. Default: no cap.
    {base::kMaxSlowdownAnnotation, base::IsSlowdown, "a number from 1.05 to 10 with at most three decimals"},
    // Says with which jobs this one may share, within what an administrator allows. Default: namespace.
    {base::kShareWithAnnotation,
     [](const char* text) { return Same(text, "namespace") || Same(text, "cluster"); },
     "namespace or cluster"},
    // Keeps all pods of the job within one topology domain: on nodes with one value of this label.
    // Default: the narrowest domain that has room.
    {base::kWithinAnnotation, IsLabelKey, "the key of a node label, such as topology.kubernetes.io/zone"},
    // Divides the batch of the job among its ranks by their speeds: containers find the weights in the file
    // that CROSSOVER_BATCH_SHARES names, and the program has to heed them. Default: Crossover writes no
    // weights.
    {base::kBatchSharesAnnotation, [](const char* text) { return Same(text, "true"); }, "true"},
    // Compresses reductions of the job, which changes its results ([when it pays](shrink.md)); with `advise`
    // no call changes, and those that would are listed; with `auto` the extender chooses. Default: the
    // library that does it is not loaded.
    {base::kShrinkAnnotation, [](const char* text) { return base::ShrinkLevelOf(text) != nullptr; },
     base::kShrinkLevelsInWords},
    // Sets the mode; with `observe` the job runs as without Crossover and is measured. Default: enforce.
    {base::kModeAnnotation,
     [](const char* text) { return Same(text, "enforce") || Same(text, "observe") || Same(text, "off"); },
     "enforce, observe or off"},
};

constexpr Rule kMaintenance = {base::kMaintenanceAnnotation,
                               [](const char* text) { return Same(text, "true") || Same(text, "false"); },
                               "true or false"};

// Returns the edit distance: how many characters must be inserted, deleted or replaced to turn `a` into
// `b`.
std::size_t Distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

// Returns how far `key` is from `other`: the edit distance, less the characters behind our domain with which
// both begin, if these are three or more. Without them "sharing" would be nearer to "shrink" than to "share".
std::ptrdiff_t FarFrom(std::string_view key, std::string_view other) {
  constexpr std::ptrdiff_t kDomain = sizeof(CROSSOVER_DOMAIN "/") - 1, kMany = 3;
  const std::ptrdiff_t common = std::ranges::mismatch(key, other).in1 - key.begin() - kDomain;
  return static_cast<std::ptrdiff_t>(Distance(key, other)) - (common >= kMany ? common : 0);
}

}  // namespace

std::span<const Rule> RulesOfPods() { return kOfPods; }

const Rule* RuleOf(std::string_view key) {
  const auto found = std::find_if(std::begin(kOfPods), std::end(kOfPods),
                                  [key](const Rule& rule) { return key == rule.key; });
  if (found != std::end(kOfPods)) return found;
  return key == kMaintenance.key ? &kMaintenance : nullptr;
}

std::optional<std::string> FaultOf(const std::string& key, const std::string& value) {
  const Rule* rule = RuleOf(key);
  const bool whole = value.find('\0') == std::string::npos;
  if (rule == nullptr || (whole && rule->allows(value.c_str()))) return std::nullopt;
  return base::Refusal(key, rule->expected, Shown(value));
}

std::string FaultOfLabel(const std::string& key, const std::string& value) {
  return base::Refusal(Shown(key), "an annotation", "a label with the value " + Shown(value));
}

std::string NearestTo(std::string_view key) {
  constexpr std::size_t kMuch = 100;  // a longer key is no typing error, and bounds the time
  key = key.substr(0, kMuch);
  const auto nearest = std::min_element(
      std::begin(kOfPods), std::end(kOfPods),
      [key](const Rule& a, const Rule& b) { return FarFrom(key, a.key) < FarFrom(key, b.key); });
  return nearest->key;
}

}  // namespace crossover::annotations
