#include "extender/gang/request.h"

#include <algorithm>
#include <optional>

#include "common/annotations/domain.h"
#include "common/annotations/rules.h"
#include "common/base/job_environment.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/base/shrink_level.h"
#include "extender/gang/containers.h"
#include "extender/gang/demands.h"
#include "extender/profiles/observed.h"

namespace crossover::extender {
namespace {

const std::string* Find(const Pod& pod, const char* key) {
  const auto found = pod.annotations.find(key);
  return found == pod.annotations.end() ? nullptr : &found->second;
}

// Returns the value of an annotation, or null if it is missing or invalid. If it is invalid, sets `fault`,
// unless that is set already.
const std::string* Allowed(const Pod& pod, const char* key, std::string* fault) {
  const std::string* value = Find(pod, key);
  if (value == nullptr) return nullptr;
  const std::optional<std::string> wrong = annotations::FaultOf(key, *value);
  if (wrong && fault->empty()) *fault = *wrong;
  return wrong ? nullptr : value;
}

// Reads the annotations of one pod into `gang`, and returns the first fault, or "". The rules are those of
// the admission webhook (common/annotations), so this finds no fault in a pod that the webhook has admitted.
std::string ReadWishes(const Pod& pod, placement::Gang* gang) {
  std::string fault;
  const std::string* with = Allowed(pod, base::kShareWithAnnotation, &fault);
  if (with != nullptr && *with == "cluster") gang->consent = placement::Consent::kCluster;
  const std::string* share = Allowed(pod, base::kShareAnnotation, &fault);
  gang->exclusive = share != nullptr && *share == "exclusive";
  if (const std::string* priority = Allowed(pod, base::kTurnPriorityAnnotation, &fault)) {
    if (*priority == "high") gang->priority = placement::Priority::kHigh;
    if (*priority == "low") gang->priority = placement::Priority::kLow;
  }
  if (const std::string* cap = Allowed(pod, base::kMaxSlowdownAnnotation, &fault)) {
    gang->max_slowdown = base::SlowdownOf(cap->c_str()) / 1000.0;
  }
  if (const std::string* memory = Allowed(pod, base::kGpuMemoryAnnotation, &fault)) {
    gang->memory_cap = base::GpuMemoryOf(memory->c_str());
  }
  if (const std::string* within = Allowed(pod, base::kWithinAnnotation, &fault)) gang->within = *within;
  return fault;
}

// Sets the gang's memory limit to what its placed pods were granted: the profile may have changed since. If
// one of them runs without a limit, the gang has none. Ignores finished and terminating pods. A job may
// keep these for long, no gang is placed beside them (snapshot.cc), and the pods that replace them were
// planned without them.
void ReadGranted(std::span<const Pod* const> members, placement::Gang* gang) {
  bool unbounded = false;
  for (const Pod* pod : members) {
    if (pod->over || pod->deleting) continue;
    if (pod->node.empty() && Find(*pod, base::kReservationAnnotation) == nullptr) continue;
    const placement::Bytes bytes = GrantedOn(*pod);
    gang->memory_cap = std::max(gang->memory_cap, bytes);
    unbounded |= bytes == 0;
  }
  if (unbounded) gang->memory_cap = gang->profile.peak_memory = 0;
}

// Returns how long a usual link of the cluster takes for what the job sends in an iteration, or 0 if that
// is not known.
double LinkTimeOf(const ClusterCache& cache, const JobProfile& profile) {
  const double link = cache.UsualLink();
  return link > 0 ? profile.link_bytes / link : 0;
}

void AddProfile(const ClusterCache& cache, const Pod& pod, placement::Gang* gang) {
  gang->key = PlacementKeyOf(pod.name_space, pod.profile_key);
  if (gang->key.empty()) return;
  const JobProfile* known = cache.FindProfileOf(pod);
  if (known == nullptr) return;
  gang->profile = {.source = known->hinted ? placement::Source::kHinted : placement::Source::kMeasured,
                   .compute_s = known->compute_s,
                   .exposed_s = known->exposed_s,
                   .link_s = LinkTimeOf(cache, *known),
                   .peak_memory = known->peak_memory};
}

// Returns what this pod makes the `users` of its gang, if another pod of the gang runs as the user `uid`.
placement::Users UsersOf(const Pod& pod, std::uint32_t uid) {
  if (pod.several_users) return placement::Users::kMixed;
  if (pod.own_users) return placement::Users::kOwn;
  return pod.user.value_or(0) == uid ? placement::Users::kOne : placement::Users::kUnlike;
}

// Reads the gang's rank: that of its least pod, because the gang has a place only with all of its pods. It
// makes others leave only if each of its pods may. Pods that have ended do not count beside others: else a
// gang would make others leave for its last pods, and then leave for those again.
void ReadRank(std::span<const Pod* const> members, placement::Gang* gang) {
  const bool lives = !std::ranges::all_of(members, &Pod::over);
  std::optional<std::int32_t> rank;
  for (const Pod* pod : members) {
    if (lives && pod->over) continue;
    rank = std::min(rank.value_or(pod->priority), pod->priority);
    gang->preempts &= pod->preempts;
  }
  gang->rank = rank.value_or(0);
}

// Returns, in words for the user, a difference between two pods of one gang that is not permitted, or "" if
// there is none.
std::string Unlike(const Pod& first, const Pod& other) {
  if (GpusWanted(first) != GpusWanted(other)) {
    return "pods of one gang ask for different numbers of GPUs: " +
           base::Refusal("pod " + other.name,
                         std::to_string(GpusWanted(first)) + ", as pod " + first.name + " asks for",
                         std::to_string(GpusWanted(other)));
  }
  for (const char* key : {base::kShareAnnotation, base::kShareWithAnnotation, base::kGpuMemoryAnnotation,
                          base::kMaxSlowdownAnnotation, base::kTurnPriorityAnnotation,
                          base::kGangSizeAnnotation, base::kWithinAnnotation, base::kShrinkAnnotation}) {
    const std::string* a = Find(first, key);
    const std::string* b = Find(other, key);
    if ((a == nullptr) != (b == nullptr) || (a != nullptr && *a != *b)) {
      const auto shown = [](const std::string* value) {
        return value == nullptr ? std::string() : annotations::Shown(*value);
      };
      return base::Refusal(key, "\"" + shown(a) + "\", as " + first.name + " of the same gang has",
                           "\"" + shown(b) + "\" of " + other.name);
    }
  }
  return "";
}

}  // namespace

bool LeavesLevelToUs(const Pod& pod) {
  const base::ShrinkLevelName* row = base::ShrinkLevelOf(AnnotationOf(pod, base::kShrinkAnnotation).c_str());
  return row != nullptr && row->level == base::ShrinkLevel::kAuto;
}

std::string AnnotationOf(const Pod& pod, const char* key) {
  const std::string* value = Find(pod, key);
  return value == nullptr ? "" : *value;
}

placement::Bytes GrantedOn(const Pod& pod) {
  const std::string* granted = Find(pod, base::kGrantedMemoryAnnotation);
  return granted == nullptr ? 0 : base::GpuMemoryOf(granted->c_str());
}

Request RequestOf(const Membership& membership, std::span<const Pod* const> members, int pods,
                  const ClusterCache& cache) {
  const Pod& first = *members.front();
  Request request{};
  request.fault = membership.fault;
  placement::Gang& gang = request.gang;
  gang.id = membership.id;
  gang.job = membership.job;
  gang.maker = membership.maker.kind;
  gang.name = membership.name;
  gang.space = first.name_space;
  gang.pods = pods;
  gang.gpus_per_pod = GpusWanted(first);
  gang.uid = first.user.value_or(0);  // without runAsUser the image decides, which usually means root
  for (const Pod* pod : members) gang.users = std::max(gang.users, UsersOf(*pod, gang.uid));
  // The gang's waiting time begins with its last pod, because it could not be placed before.
  gang.arrived_s = first.created_s;
  for (const Pod* pod : members) gang.arrived_s = std::max(gang.arrived_s, pod->created_s);
  ReadRank(members, &gang);
  const auto check = [&request](const std::string& fault) {
    if (request.fault.empty()) request.fault = fault;
  };
  check(ReadWishes(first, &gang));
  for (const Pod* pod : members) {
    check(FaultyContainers(*pod));
    check(Unlike(first, *pod));
  }
  check(FaultyDemands(members).text);
  gang.exclusive |= !membership.aside.empty();
  AddProfile(cache, first, &gang);
  request.names_memory = gang.memory_cap > 0;
  if (!request.names_memory) ReadGranted(members, &gang);
  return request;
}

}  // namespace crossover::extender
