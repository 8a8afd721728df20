#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "cli/cluster/batch_shares.h"
#include "cli/cluster/call_shape.h"
#include "cli/cluster/checks.h"
#include "cli/cluster/explain.h"
#include "cli/cluster/objects.h"
#include "cli/cluster/shrink_advice.h"
#include "cli/render/table.h"
#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/kube/profile_key.h"

namespace crossover::cli {
namespace {

using kube::At;

constexpr char kReporter[] = "crossover.dev/";
constexpr std::size_t kMostEvents = 8;  // of a pod

bool IsGated(const json& pod) {
  const json& gates = ListAt(pod, {"spec", "schedulingGates"});
  return std::any_of(gates.begin(), gates.end(),
                     [](const json& gate) { return TextAt(gate, {"name"}) == base::kGangGate; });
}

std::string StateOf(const json& pod) {
  if (IsOver(pod)) return "has ended: " + TextAt(pod, {"status", "phase"});
  const std::string node = NodeOf(pod);
  if (!node.empty())
    return (TextAt(pod, {"status", "phase"}) == "Running" ? "runs on " : "is bound to ") + node;
  if (AnnotationOf(pod, base::kAdmittedAnnotation).empty() && LabelOf(pod, base::kManagedLabel).empty())
    return "is not managed by Crossover: expected a pod that the webhook has rewritten, got one that it has "
           "not; "
           "set crossover.dev/share in the pod template, remove spec.schedulerName and spec.nodeName there, "
           "and "
           "make the pod again; if the template is so already, kubectl crossover doctor checks the webhook";
  const std::string reservation = AnnotationOf(pod, base::kReservationAnnotation);
  if (!At(json::parse(reservation, nullptr, false), "claim").is_null())
    return "has GPUs reserved, and waits until jobs of lower priority have left these GPUs";
  if (!reservation.empty()) return "has a place, and waits to be bound there with its whole gang";
  return IsGated(pod) ? "waits for a place for its whole gang"
                      : "waits for a place, and has no scheduling gate of Crossover any more";
}

std::string TimeOf(const json& event) {
  for (const char* key : {"eventTime", "deprecatedLastTimestamp", "deprecatedFirstTimestamp"}) {
    if (const std::string time = TextAt(event, {key}); !time.empty()) return time;
  }
  return TextAt(event, {"metadata", "creationTimestamp"});
}

std::string LastTimeOf(const json& event) {
  const std::string series = TextAt(event, {"series", "lastObservedTime"});
  return series.empty() ? TimeOf(event) : series;
}

// Returns the events about the pod, newest first: Crossover's own, and the scheduler's refusals.
json EventsOf(const json& pod, const json& events) {
  std::vector<json> own;
  for (const json& event : events) {
    const bool ours = TextAt(event, {"reportingController"}).starts_with(kReporter) ||
                      TextAt(event, {"reason"}) == "FailedScheduling";
    const json& regarding = At(event, "regarding");
    const std::string uid = TextAt(regarding, {"uid"});
    if (!ours || TextAt(regarding, {"name"}) != NameOf(pod)) continue;
    if (!uid.empty() && uid != TextAt(pod, {"metadata", "uid"})) continue;  // about an earlier pod
    own.push_back({{"reason", TextAt(event, {"reason"})},
                   {"note", TextAt(event, {"note"})},
                   {"at", LastTimeOf(event)}});
  }
  std::stable_sort(own.begin(), own.end(), [](const json& a, const json& b) { return b["at"] < a["at"]; });
  if (own.size() > kMostEvents) own.resize(kMostEvents);
  return own;
}

// Returns what kept the pod from a node last: the extender's words, else the scheduler's.
std::string WhyNowhere(const json& pod, const json& events) {
  for (const json& event : events) {
    if (event["reason"] == "GangWaits") return event["note"];
  }
  for (const json& condition : ListAt(pod, {"status", "conditions"})) {
    if (TextAt(condition, {"type"}) == "PodScheduled" && TextAt(condition, {"status"}) == "False")
      return TextAt(condition, {"message"});
  }
  return "";
}

bool IsHeldBy(const api::GpuNode::Holder& holder, const json& pod) {
  return holder.name_space == NamespaceOf(pod) && holder.pod == NameOf(pod);
}

// Returns the pod's GPUs, the gangs beside it there, and why no turns are taken.
json GpusOf(const json& pod, const std::vector<api::GpuNode>& gpu_nodes) {
  json gpus = json::array();
  for (const api::GpuNode& node : gpu_nodes) {
    if (node.name != NodeOf(pod)) continue;
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      bool mine = false;
      std::set<std::string> beside;
      for (const api::GpuNode::Holder& holder : gpu.holders) {
        const bool own = IsHeldBy(holder, pod);
        mine |= own;
        if (!own) beside.insert(holder.gang);
      }
      if (!mine) continue;
      json entry = {{"uuid", gpu.uuid}, {"beside", beside}};
      if (!gpu.notes->no_turns.empty()) entry["noTurns"] = gpu.notes->no_turns;
      gpus.push_back(std::move(entry));
    }
  }
  return gpus;
}

std::string GangIn(const json& pod, const std::vector<api::GpuNode>& gpu_nodes) {
  for (const api::GpuNode& node : gpu_nodes) {
    for (const api::GpuNode::Gpu& gpu : node.gpus) {
      for (const api::GpuNode::Holder& holder : gpu.holders) {
        if (IsHeldBy(holder, pod)) return holder.gang;
      }
    }
  }
  const std::string named = GangOfPod(pod);
  return named.empty() ? "" : NamespaceOf(pod) + "/" + named;
}

// Returns whether `maker` made the pod: it is an owner of the pod, or the object behind the owner that gives
// the gang its name on nodes. If a pod has no annotation and no node reports it yet, nothing else says which
// gang it is of.
bool IsOf(const json& pod, const std::string& maker) {
  if (kube::JobNamedBy(At(At(pod, "metadata"), "labels")) == maker) return true;
  const json& owners = ListAt(pod, {"metadata", "ownerReferences"});
  return std::any_of(owners.begin(), owners.end(),
                     [&maker](const json& owner) { return TextAt(owner, {"name"}) == maker; });
}

// Returns what the nodes report about the gang.
json FiguresOf(const std::string& gang, const json& gpu_nodes) {
  json figures = json::array();
  for (const json& node : gpu_nodes) {
    for (const json& job : ListAt(node, {"status", "jobs"})) {
      if (gang.empty() || TextAt(job, {"gang"}) != gang) continue;
      json entry = {{"node", NameOf(node)}};
      for (const char* key : {"computeSeconds", "exposedSeconds", "stepAloneSeconds", "source", "measuredAt",
                              "profileKey", "meetings"}) {
        if (!At(job, key).is_null()) entry[key] = At(job, key);
      }
      figures.push_back(std::move(entry));
    }
  }
  return figures;
}

std::string FigureLine(const json& figure) {
  const auto ms = [&figure](const char* key) {
    const json& value = At(figure, key);
    return value.is_number() ? Number(value.get<double>() * 1e3, 1) + " ms" : std::string("not known");
  };
  std::string text = "  on " + TextAt(figure, {"node"}) + ": compute " + ms("computeSeconds") +
                     ", exposed communication " + ms("exposedSeconds") + ", an iteration alone " +
                     ms("stepAloneSeconds");
  if (const std::string source = TextAt(figure, {"source"}); !source.empty()) text += " (" + source + ")";
  text += "\n";
  for (const json& meeting : ListAt(figure, {"meetings"})) {
    std::string beside;
    for (const json& peer : ListAt(meeting, {"beside"}))
      beside += (beside.empty() ? "" : ", ") + TextAt(peer, {"gang"});
    if (At(meeting, "gain").is_number())
      text += "  gained " + Number(At(meeting, "gain").get<double>(), 2) + "x beside " + beside + "\n";
  }
  return text;
}

// Returns what the nodes report about each gang, what its profile knows of its calls, its shares, and what
// compressed reductions would gain.
std::string GangsText(const json& explanation) {
  const json &gangs = At(explanation, "gangs"), &communication = At(explanation, "communication");
  const json &shares = At(explanation, "shares"), &reductions = At(explanation, "reductions");
  std::set<std::string> names;
  for (const json* each : {&gangs, &communication, &shares, &reductions}) {
    for (const auto& [gang, value] : each->items()) names.insert(gang);
  }
  std::string text;
  for (const std::string& gang : names) {
    text += "gang " + gang + "\n";
    for (const json& figure : ListAt(gangs, {gang.c_str()})) text += FigureLine(figure);
    text += CommunicationText(At(communication, gang.c_str()));
    text += SharesText(At(shares, gang.c_str()));
    text += ShrinkLine(At(reductions, gang.c_str()));
  }
  return text;
}

// Returns the level that the extender chose for a pod and why, as a part of a sentence.
std::string ChoiceText(const json& choice) {
  const std::string level = TextAt(choice, {"level"});
  return level.empty() ? "" : ", and the extender chose " + level + ": " + TextAt(choice, {"why"});
}

std::string PodText(const json& pod) {
  std::string text = "pod " + TextAt(pod, {"pod"}) + " " + TextAt(pod, {"state"}) + "\n";
  if (const std::string why = TextAt(pod, {"why"}); !why.empty()) text += "  " + why + "\n";
  if (const std::string level = TextAt(pod, {"shrink"}); !level.empty())
    text += "  reductions: " + level + " is asked for" + ChoiceText(At(pod, "shrinkChoice")) +
            "; where they are plain, an event ReductionsPlain of the pod says why\n";
  for (const json& gpu : ListAt(pod, {"gpus"})) {
    std::string beside;
    for (const json& gang : ListAt(gpu, {"beside"}))
      beside += (beside.empty() ? "" : ", ") + kube::Text(gang);
    text += "  " + TextAt(gpu, {"uuid"}) + (beside.empty() ? ", alone" : ", beside " + beside) + "\n";
    if (const std::string why = TextAt(gpu, {"noTurns"}); !why.empty()) text += "    no turns: " + why + "\n";
  }
  for (const json& event : ListAt(pod, {"events"}))
    text += "  " + TextAt(event, {"at"}) + " " + TextAt(event, {"reason"}) + ": " + TextAt(event, {"note"}) +
            "\n";
  return text;
}

}  // namespace

json PodsOfGang(const json& pods, const json& gpu_nodes, const std::string& gang) {
  const std::vector<api::GpuNode> nodes = ParsedGpuNodes(gpu_nodes);
  json those = json::array();
  for (const json& pod : pods) {
    const std::string whole = GangIn(pod, nodes);
    const std::string in_namespace = NamespaceOf(pod) + "/";
    const std::string name = gang.starts_with(in_namespace) ? gang.substr(in_namespace.size()) : gang;
    if (whole.empty() ? IsOf(pod, name) : whole == gang || whole == in_namespace + gang) those.push_back(pod);
  }
  return those;
}

json ExplainPods(const json& pods, const json& events, const json& gpu_nodes) {
  const std::vector<api::GpuNode> nodes = ParsedGpuNodes(gpu_nodes);
  json explained = json::array();
  std::set<std::string> gangs;
  for (const json& pod : pods) {
    const json own = EventsOf(pod, events);
    json entry = {
        {"pod", FullName(pod)}, {"state", StateOf(pod)}, {"gpus", GpusOf(pod, nodes)}, {"events", own}};
    const std::string why = NodeOf(pod).empty() && !IsOver(pod) ? WhyNowhere(pod, own) : "";
    if (!why.empty()) entry["why"] = why;
    const std::string shrink = AnnotationOf(pod, base::kShrinkAnnotation);
    if (!shrink.empty() && shrink != "off") entry["shrink"] = shrink;
    if (const std::string chosen = AnnotationOf(pod, base::kShrinkChoiceAnnotation); !chosen.empty())
      entry["shrinkChoice"] = {{"level", chosen}, {"why", AnnotationOf(pod, base::kShrinkWhyAnnotation)}};
    if (const std::string gang = GangIn(pod, nodes); !gang.empty()) {
      entry["gang"] = gang;
      gangs.insert(gang);
    }
    explained.push_back(std::move(entry));
  }
  json figures = json::object();
  for (const std::string& gang : gangs) {
    if (json found = FiguresOf(gang, gpu_nodes); !found.empty()) figures[gang] = std::move(found);
  }
  return {{"pods", explained}, {"gangs", figures}};
}

std::map<std::string, std::string> GangsByPod(const json& explanation) {
  std::map<std::string, std::string> gangs;
  for (const json& pod : ListAt(explanation, {"pods"}))
    gangs.emplace(TextAt(pod, {"pod"}), TextAt(pod, {"gang"}));
  return gangs;
}

void ExplainDomains(const ClusterFacts& facts, json* explanation) {
  json found = json::object();
  const auto over = GangsOverUnnamedDomains(facts);
  for (const json& pod : ListAt(*explanation, {"pods"})) {
    if (const auto gang = over.find(TextAt(pod, {"gang"})); gang != over.end())
      found[gang->first] = OverNodes(gang->first, gang->second);
  }
  if (!found.empty()) (*explanation)["unnamedDomains"] = std::move(found);
}

void ExplainCommunication(const json& pods, const json& profiles, json* explanation) {
  std::map<std::string, const json*> known;  // by the key of the profile
  for (const json& profile : profiles) {
    const std::string key = TextAt(profile, {"spec", "key"});
    const json& communication = At(At(profile, "status"), "communication");
    if (communication.is_object()) known.emplace(key.empty() ? NameOf(profile) : key, &communication);
  }
  auto gangs = GangsByPod(*explanation);
  json found = json::object();
  for (const json& pod : pods) {
    const std::string& gang = gangs[FullName(pod)];
    const auto communication = known.find(kube::ProfileKeyOf(pod));
    if (!gang.empty() && communication != known.end()) found[gang] = *communication->second;
  }
  if (!found.empty()) (*explanation)["communication"] = std::move(found);
}

std::string ExplanationText(const json& explanation) {
  std::string text;
  for (const json& pod : ListAt(explanation, {"pods"})) text += PodText(pod);
  text += GangsText(explanation);
  const json& unnamed = At(explanation, "unnamedDomains");
  if (!unnamed.is_object()) return text;
  for (const json& place : unnamed)
    text += kube::Text(place) +
            ": no label of gangs.topology says which of these nodes are near each other: label the nodes, "
            "and name the label in extender.config.gangs.topology\n";
  return text;
}

}  // namespace crossover::cli
