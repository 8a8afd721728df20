#include "extender/placement/explain.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <limits>
#include <map>
#include <set>

#include "common/base/names.h"
#include "common/base/within.h"
#include "common/text/truncate.h"
#include "extender/placement/memory.h"
#include "extender/placement/pairing.h"
#include "extender/placement/sets.h"

namespace crossover::placement {
namespace {

std::string Formatted(const char* format, double value) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), format, value);
  return text.data();
}

std::string Number(double value) { return Formatted("%.3g", value); }

// Returns a number that is less than one with fewer digits, also where that is near: 1.0496, and not 1.05.
std::string Exactly(double value) { return Formatted("%.5g", value); }

std::string Gib(Bytes bytes) { return Exactly(static_cast<double>(bytes) / (1u << 30)) + " GiB"; }

std::string Counted(long count, const std::string& one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

std::string NameOf(const Gang& peer, const Gang& newcomer) {
  return peer.space == newcomer.space ? peer.name : "another job";
}

std::string WithinSays(const Gang& gang) { return base::kWithinAnnotation + std::string(": ") + gang.within; }

// Counts the nodes with one reason, and keeps the first figures that one of them gave.
struct Said {
  long nodes = 0;
  std::string figures{};
};

// Returns the gang's constraints over several nodes, in words: "spec.. and spec..". Returns "" if it has
// none.
std::string Demands(const Gang& gang) {
  std::string text;
  for (const Division& division : gang.divisions) text += (text.empty() ? "" : " and ") + division.what;
  if (!gang.within.empty()) text += (text.empty() ? "" : " and ") + WithinSays(gang);
  return text;
}

// Returns what keeps nodes from taking the gang's pods, the most frequent reason first: "2 nodes: the node's
// CPU is taken, for example: 12 of 16".
std::string NodesSay(const Occupancy& occupancy, const Gang& gang, const Context& context) {
  constexpr std::size_t kMostReasons = 4;
  std::map<std::string, Said> said;
  const auto say = [&said](const std::string& why, const std::string& figures) {
    Said& entry = said[why];
    ++entry.nodes;
    if (entry.figures.empty()) entry.figures = figures;
  };
  for (int n = 0; n < static_cast<int>(occupancy.state().nodes.size()); ++n) {
    const Node& node = occupancy.node(n);
    const Fit fit = context.fitness(gang, n, occupancy.planned(n));
    if (!node.open) {
      say("closed to new pods", "");
    } else if (static_cast<int>(node.gpus.size()) < gang.gpus_per_pod) {
      say("fewer than " + Counted(gang.gpus_per_pod, "GPU") + ", which one pod needs", "");
    } else if (fit.never() || fit.pods == 0 || !fit.why.empty()) {
      say(fit.why, fit.figures);
    }
  }
  std::multimap<long, const std::string*, std::greater<>> by_count;
  for (const auto& [why, entry] : said) by_count.emplace(entry.nodes, &why);
  std::string text;
  std::size_t reasons = 0;
  long others = 0;
  for (const auto& [count, why] : by_count) {
    if (reasons++ >= kMostReasons) {
      others += count;
      continue;
    }
    text += "; " + Counted(count, "node") + ": " + *why;
    const std::string& figures = said[*why].figures;
    if (!figures.empty()) text += (count == 1 ? ": " : ", for example: ") + figures;
  }
  if (others > 0) text += "; " + Counted(others, "node") + ": other reasons";
  return text;
}

// Returns what keeps a node of the group from taking the pods that the gang would have there.
std::string WhyNotItsNodes(const Occupancy& occupancy, const Group& group, const Gang& gang,
                           const Context& context) {
  for (const OnNode& on : group.by_node) {
    const Fit fit = context.fitness(gang, on.node, occupancy.planned(on.node));
    const int pods = on.gpus / gang.gpus_per_pod;
    if (!fit.never() && fit.pods >= pods) continue;
    if (fit.why.empty()) return ": it takes " + std::to_string(fit.pods) + " of " + Counted(pods, "pod");
    return ": " + fit.why + (fit.figures.empty() ? "" : ": " + fit.figures);
  }
  return "";
}

// Returns why the gang cannot join the jobs that have as many GPUs as it needs: each reason once, with one
// job as an example.
std::string JobsSay(const Occupancy& occupancy, const Gang& gang, const Context& context) {
  std::map<Rule, std::pair<long, std::string>> said;
  for (const Group& group : occupancy.groups()) {
    if (static_cast<int>(group.gpus.size()) != gang.gpus()) continue;
    const auto violation = WhyNotJoin(occupancy, group, gang, context);
    if (!violation) continue;
    auto& [count, example] = said[violation->rule];
    if (count++ == 0) {
      example = NameOf(violation->peer != nullptr ? *violation->peer : *group.gangs.front(), gang) + ": " +
                Words(*violation, group, gang, context.settings);
      if (violation->rule == Rule::kNodes) example += WhyNotItsNodes(occupancy, group, gang, context);
    }
  }
  std::string text;
  for (const auto& [rule, entry] : said) {
    text += "; not beside " + entry.second;
    if (entry.first > 1) text += " (and " + std::to_string(entry.first - 1) + " more)";
  }
  return text;
}

// Returns the memory of the largest GPU. Returns the largest number if the memory of some GPU is not known.
Bytes LargestGpu(const State& state) {
  Bytes largest = 0;
  for (const Node& node : state.nodes) {
    for (const Gpu& gpu : node.gpus)
      largest = std::max(largest, gpu.memory == 0 ? std::numeric_limits<Bytes>::max() : gpu.memory);
  }
  return largest;
}

// Returns why jobs of lower rank stay, although some of them could make room.
std::string StaySays(const State& state, const Gang& gang) {
  long may = 0, spared = 0, forbidden = 0;
  for (const Placed& placed : state.placed) {
    if (placed.gang.rank >= gang.rank) continue;
    may += placed.leave == Leave::kMay;
    spared += placed.leave == Leave::kSpared;
    forbidden += placed.leave == Leave::kForbidden;
  }
  const auto say = [](long count, const char* why) {
    if (count == 0) return std::string();
    return "; " + Counted(count, "job") + " of lower priority " + (count == 1 ? "stays: " : "stay: ") + why;
  };
  if (!gang.preempts) return say(may, "the preemptionPolicy of this job is Never");
  return say(forbidden, "disruption budgets do not allow the eviction of all their pods") +
         say(spared, "a job that made room is not evicted again for a while (gangs.spare_s)");
}

constexpr char kNoSlotLeft[] = "the GPUs of that job have no slot left: wait, or raise node.slots_per_gpu";
constexpr char kOneSlot[] =
    "a GPU of that job has one slot: jobs do not share on its node, or node.slots_per_gpu is 1";
constexpr char kLearns[] =
    "this job's need of GPU memory is not known: set crossover.dev/gpu-memory, or let the job run alone once";
constexpr char kHasNoLimit[] =
    "that job has no limit of GPU memory, because its need was not known when it was placed: wait, or start "
    "it anew with crossover.dev/gpu-memory";

// Returns why jobs of two namespaces may not meet.
std::string WordsOfConsent(const Violation& violation, const Gang& newcomer) {
  const bool both = newcomer.consent == Consent::kCluster && violation.peer != nullptr &&
                    violation.peer->consent == Consent::kCluster;
  if (!both) return "both jobs must set crossover.dev/share-with: cluster";
  return "no group of placement.namespace_groups has the namespaces of both jobs: an administrator must add "
         "one";
}

// Returns why MPS does not serve the users of both.
std::string WordsOfUsers(const Violation& violation, const Gang& newcomer) {
  const bool own = newcomer.users != Users::kOne;
  Users users = newcomer.users;
  if (!own && violation.peer != nullptr) users = violation.peer->users;
  if (users == Users::kOne) {
    return "that job runs as another user ID, and MPS serves one at a time: use the same runAsUser";
  }
  const std::string serves = "MPS serves one user ID at a time on these nodes, and ";
  const std::string whose = own ? "this job" : "that job";
  if (users == Users::kOwn)
    return serves + "with hostUsers: false each pod of " + whose + " has a user ID of its own";
  return serves + whose + " has several user IDs: use the same runAsUser";
}

long GpusOf(const Occupancy& occupancy, bool kept) {
  long count = 0;
  for (int n = 0; n < static_cast<int>(occupancy.state().nodes.size()); ++n) {
    for (int g = 0; g < static_cast<int>(occupancy.node(n).gpus.size()); ++g) {
      count += !kept || (occupancy.IsReserved({n, g}) && !occupancy.Busy({n, g}));
    }
  }
  return count;
}

std::string MalformedProfile(const Profile& profile) {
  const std::array<std::pair<const char*, double>, 4> times{{{"compute", profile.compute_s},
                                                             {"exposed communication", profile.exposed_s},
                                                             {"the link", profile.link_s},
                                                             {"the host", profile.host_s}}};
  for (const auto& [what, seconds] : times) {
    if (seconds >= 0) continue;
    return std::string("the time of ") + what + " in its profile is " + Number(seconds) +
           " s; at least 0 is needed";
  }
  if (profile.spinning >= 0 && profile.spinning <= 1) return "";
  return "the part of the GPU that collectives take in its profile is " + Number(profile.spinning) +
         "; 0 to 1 is needed";
}

}  // namespace

std::string Malformed(const Gang& gang) {
  if (gang.id.empty()) return "it has no identity";
  if (gang.pods <= 0) return "it has " + Counted(gang.pods, "pod") + "; at least 1 is needed";
  if (gang.gpus_per_pod <= 0)
    return "its pods ask for " + Counted(gang.gpus_per_pod, "GPU") + "; at least 1 is needed";
  if (gang.max_slowdown != 0 && !(gang.max_slowdown >= 1)) {
    return "its max-slowdown is " + Number(gang.max_slowdown) + "; at least 1 is needed";
  }
  return MalformedProfile(gang.profile);
}

namespace {

// Returns whether the cluster would have GPUs for the gang if it had no constraints over several nodes.
bool HasNodesWithout(const Occupancy& occupancy, const Gang& gang, Wanted wanted, const Context& context) {
  Gang free = gang;
  free.divisions.clear();
  free.within.clear();
  wanted.gangs = {&free};
  return !FindEver(occupancy, wanted, context.fitness).empty();
}

Refusal Find(const Occupancy& occupancy, const Gang& gang, const Context& context) {
  if (!LevelOf(occupancy.state(), gang))
    return {gang.id, Reason::kApart, base::WithinRefusal(occupancy.state().levels, gang.within)};
  const std::string needs = "needs " + Counted(gang.gpus(), "GPU");
  const long all = GpusOf(occupancy, false);
  if (gang.gpus() > all)
    return {gang.id, Reason::kTooMuch, needs + "; the cluster has " + std::to_string(all)};
  const Bytes cap = CapOf(gang, context.settings);
  const Bytes largest = LargestGpu(occupancy.state());
  if (cap > 0 && cap + context.settings.context_reserve > largest) {
    return {gang.id, Reason::kMemory,
            "needs " + Gib(cap + context.settings.context_reserve) + " of GPU memory, " +
                Gib(context.settings.context_reserve) + " of it for its CUDA context; the largest GPU has " +
                Gib(largest) + ": set a lower crossover.dev/gpu-memory"};
  }
  Wanted wanted{.gangs = {&gang}};
  if (cap > 0) wanted.memory = cap + context.settings.context_reserve;
  if (FindEver(occupancy, wanted, context.fitness).empty()) {
    if (!Demands(gang).empty() && HasNodesWithout(occupancy, gang, wanted, context)) {
      return {gang.id, Reason::kApart,
              needs + "; even on empty nodes its pods could not keep to " + Demands(gang) +
                  NodesSay(occupancy, gang, context)};
    }
    return {gang.id, Reason::kNodes,
            needs + "; even empty nodes would not fit its pods" + NodesSay(occupancy, gang, context)};
  }
  const std::string jobs = JobsSay(occupancy, gang, context) + StaySays(occupancy.state(), gang);
  const long free = occupancy.free_gpus();
  const std::string is_free = needs + "; " + std::to_string(free) + (free == 1 ? " is free" : " are free");
  if (free >= gang.gpus()) {
    return {gang.id, Reason::kScattered,
            is_free + ", but not where its pods fit" +
                (Demands(gang).empty() ? "" : " and keep to " + Demands(gang)) +
                NodesSay(occupancy, gang, context) + jobs};
  }
  const long kept = GpusOf(occupancy, true);
  if (kept > 0 && free + kept >= gang.gpus()) {
    return {gang.id, Reason::kKept,
            is_free + ", and " + std::to_string(kept) + (kept == 1 ? " is" : " are") +
                " kept for a job that has waited for longer or has a higher priority" + jobs};
  }
  return {gang.id, Reason::kFull, is_free + jobs};
}

}  // namespace

Refusal Explain(const Occupancy& occupancy, const Gang& gang, const Context& context) {
  Refusal refusal = Find(occupancy, gang, context);
  refusal.text = text::Truncate(refusal.text, kLongestReason);
  return refusal;
}

Refusal ExplainRoom(const Gang& gang, std::size_t victims) {
  const long count = static_cast<long>(victims);
  return {gang.id, Reason::kMakesRoom,
          "needs " + Counted(gang.gpus(), "GPU") + "; waits for " + Counted(count, "job") +
              " of lower priority to end, which " + (count == 1 ? "makes" : "make") + " room for this job"};
}

std::string Words(const Violation& violation, const Group& group, const Gang& newcomer,
                  const Settings& settings) {
  std::vector<const Gang*> all = group.gangs;
  all.push_back(&newcomer);
  switch (violation.rule) {
    case Rule::kTwoRanks:
      if (!newcomer.maker.empty() && violation.peer != &newcomer)
        return "it and this pod are of the same " + newcomer.maker +
               ", and no two of its pods are on one GPU: if they are one job, set crossover.dev/gang and "
               "crossover.dev/gang-size; if each pod is a job, give each a crossover.dev/gang of its own";
      return "it is a part of this job, and no two ranks of a job are on one GPU";
    case Rule::kSameCount:
      return "that job does not have all of its GPUs now, and its full number is not that of this job: use "
             "as many GPUs as that, or wait";
    case Rule::kSlots:
      return group.site.slots > 1 ? kNoSlotLeft : kOneSlot;
    case Rule::kExclusive:
      if (newcomer.exclusive) return "this job gets whole GPUs only";
      return "that job has whole GPUs: it asks for them, it begins, ends or lacks pods now, its annotations "
             "are invalid, or it is a pod of no job that Crossover knows";
    case Rule::kConsent:
      return WordsOfConsent(violation, newcomer);
    case Rule::kUser:
      return WordsOfUsers(violation, newcomer);
    case Rule::kLearning:
      return violation.peer == &newcomer ? kLearns : kHasNoLimit;
    case Rule::kMemoryUnknown:
      return "the memory of the GPUs of that job is not known: an administrator must set node.gpu_memory";
    case Rule::kMemory:
      return "together the jobs need " + Gib(MemoryOf(all, settings)) + " of GPU memory, and the GPU has " +
             Gib(group.site.memory) + ": lower crossover.dev/gpu-memory";
    case Rule::kHistory:
      return "runs of these jobs lost time on average when they shared a GPU before";
    case Rule::kSlowdown:
      return "the crossover.dev/max-slowdown of one of the jobs could not be kept: set a higher one";
    case Rule::kGain:
      return "the jobs would gain too little: " + Exactly(violation.gain) +
             (group.gangs.size() > 1 ? " times what they reach without this job, and "
                                     : " times one after the other, and ") +
             Number(settings.min_gain) + " is the least (placement.min_gain)";
    case Rule::kClosed:
      return "the GPUs of that job take no further pod at present";
    case Rule::kShape:
      return "that job's GPUs are not on nodes in multiples of " + std::to_string(newcomer.gpus_per_pod) +
             ", which one pod needs";
    case Rule::kNodes:
      return "a node of that job does not take the pods of this job";
    case Rule::kApart:
      return "on the nodes of that job the pods of this job cannot keep to " + Demands(newcomer);
    case Rule::kWithin:
      return "not all nodes of that job have the same value of " + newcomer.within + ", which " +
             base::kWithinAnnotation + " of this job asks for";
  }
  return {};
}

}  // namespace crossover::placement
