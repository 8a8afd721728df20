#include "cli/cluster/shrink_advice.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "cli/cluster/explain.h"
#include "cli/cluster/objects.h"
#include "cli/render/table.h"
#include "common/base/shrink_level.h"
#include "common/gains/memory_bandwidth.h"
#include "common/gains/shrink.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

using gains::ShrinkTo;

// A Gang is what the nodes report of one gang together.
struct Gang {
  std::string name_space, key;
  std::set<std::string> nodes{};
  int gpus = 0;
  std::optional<gains::ShrinkJob> job{};
  double slowest_link = 0;  // bytes in a second, of its nodes; 0: not known
  double slowest_memory = 0;
  std::string no_memory{};                         // a GPU whose memory bandwidth is not known
  double bytes = 0, reduced_bytes = 0;             // that its ranks send, and those of all-reduces among them
  std::map<std::string, double> reduced_by_pod{};  // as the arguments of the calls count them
  std::map<std::string, std::set<int>> ranks_by_pod{};
  std::map<std::string, std::set<std::string>> beside{};  // the other gangs by GPU
};
using Gangs = std::map<std::string, Gang>;

// Returns the lower of two speeds of which 0 is not known.
double Lower(double some, double other) {
  return some <= 0 || other <= 0 ? std::max(some, other) : std::min(some, other);
}

// Adds one call, by the bytes that NCCL moves for it.
void AddCall(const api::NcclCall& call, Gang* gang) {
  const double bytes = static_cast<double>(call.bytes);
  const double moved = api::RingBytes(call.function, std::max(1, call.size), bytes);
  gang->bytes += moved;
  gang->ranks_by_pod[call.pod].insert(call.rank);
  if (call.function != api::NcclFunction::kAllReduce) return;
  gang->reduced_bytes += moved;
  gang->reduced_by_pod[call.pod] += bytes;
}

void AddJob(const api::GpuNode& node, const api::GpuNode::Job& job, Gang* gang) {
  gang->name_space = job.name_space;
  gang->key = job.key;
  gang->nodes.insert(node.name);
  gang->gpus += job.gpus;
  gang->slowest_link = Lower(gang->slowest_link, node.link_bytes_per_s);
  for (const api::NcclCall& call : job.communication) AddCall(call, gang);
  if (job.compute_s.value_or(0) <= 0 || !job.exposed_s) return;
  if (!gang->job) gang->job.emplace();
  gains::ShrinkJob& times = *gang->job;
  for (const api::GpuNode::Rank& rank : job.ranks) times.input_s = std::max(times.input_s, rank.input_s);
  times.compute_s = std::max(times.compute_s, *job.compute_s);
  times.exposed_s = std::max(times.exposed_s, *job.exposed_s);
}

void AddGpu(const api::GpuNode::Gpu& gpu, Gangs* gangs) {
  for (const api::GpuNode::Holder& holder : gpu.holders) {
    const auto own = gangs->find(holder.gang);
    if (own == gangs->end()) continue;
    const double bandwidth = gains::MemoryBandwidthOf(gpu.model);
    if (bandwidth <= 0) own->second.no_memory = gpu.model.empty() ? gpu.uuid : gpu.model;
    own->second.slowest_memory = Lower(own->second.slowest_memory, bandwidth);
    std::set<std::string>& beside = own->second.beside[gpu.uuid];
    for (const api::GpuNode::Holder& other : gpu.holders) {
      if (other.gang != holder.gang) beside.insert(other.gang);
    }
  }
}

// Returns what runs now. A wait for input is a part of what nodes report as exposed; here it is apart.
Gangs GangsOn(const std::vector<api::GpuNode>& nodes, const std::vector<api::JobProfile>& profiles) {
  Gangs gangs;
  for (const api::GpuNode& node : nodes) {
    for (const api::GpuNode::Job& job : node.jobs) {
      if (!job.ended) AddJob(node, job, &gangs[job.gang]);
    }
  }
  for (const api::GpuNode& node : nodes) {
    for (const api::GpuNode::Gpu& gpu : node.gpus) AddGpu(gpu, &gangs);
  }
  for (auto& [name, gang] : gangs) {
    if (!gang.job) continue;
    gang.job->input_s = std::min(gang.job->input_s, gang.job->exposed_s);
    gang.job->exposed_s -= gang.job->input_s;
    for (const api::JobProfile& profile : profiles) {
      if (profile.name_space != gang.name_space || profile.key != gang.key) continue;
      if (gang.nodes.size() > 1 && gang.slowest_link > 0)
        gang.job->link_s = profile.link_bytes / gang.slowest_link;
    }
  }
  return gangs;
}

// Returns the other jobs on that GPU of the gang whose other jobs compute most, by their names. Returns
// nothing and sets `why` if the times of one are not known.
std::optional<std::map<std::string, gains::ShrinkJob>> OthersBeside(const Gang& gang, const Gangs& gangs,
                                                                    std::string* why) {
  const double step_s = gains::StepBeside(*gang.job, {});
  std::map<std::string, gains::ShrinkJob> busiest;
  double most_s = -1;
  for (const auto& [gpu, names] : gang.beside) {
    std::map<std::string, gains::ShrinkJob> others;
    double compute_s = 0;
    for (const std::string& name : names) {
      const auto other = gangs.find(name);
      if (other == gangs.end() || !other->second.job) {
        *why = "expected computeSeconds and exposedSeconds of " + name + ", which is beside it, got none";
        return std::nullopt;
      }
      others[name] = gains::InStepsOf(step_s, *other->second.job);
      compute_s += others[name].compute_s;
    }
    if (compute_s <= most_s) continue;
    most_s = compute_s;
    busiest = std::move(others);
  }
  return busiest;
}

// Returns the elements that a rank reduces in an iteration: of the pod whose ranks reduce most.
double ElementsOf(const Gang& gang) {
  double most = 0;
  for (const auto& [pod, bytes] : gang.reduced_by_pod)
    most = std::max(most, bytes / static_cast<double>(gang.ranks_by_pod.at(pod).size()));
  return most / sizeof(float);
}

// Sets the times of the codec, and says in the advice what they are, or why they are left out.
void SetCodec(const Gang& gang, gains::ShrinkCase* shrink, json* advice) {
  const double elements = ElementsOf(gang);
  if (!gang.no_memory.empty() || gang.slowest_memory <= 0) {
    (*advice)["codecLeftOut"] = "the memory bandwidth of " +
                                (gang.no_memory.empty() ? std::string("its GPUs") : gang.no_memory) +
                                " is not known";
    return;
  }
  if (elements <= 0) {
    (*advice)["codecLeftOut"] = "the bytes of its calls are not known";
    return;
  }
  const int nodes = static_cast<int>(gang.nodes.size());
  shrink->codec_s = gains::CodecSecondsByLevel(elements, nodes, std::max(1, gang.gpus / std::max(1, nodes)),
                                               gang.slowest_memory);
  (*advice)["codecSeconds"] = {{"bf16", shrink->codec_s[static_cast<std::size_t>(ShrinkTo::kBf16)]},
                               {"q8", shrink->codec_s[static_cast<std::size_t>(ShrinkTo::kQ8)]}};
}

json Judged(const Gang& gang, const Gangs& gangs, json advice) {
  if (!gang.job) {
    advice["why"] =
        "expected computeSeconds and exposedSeconds of it, got none: nodes report them once it was "
        "alone on its GPUs for a few iterations";
    return advice;
  }
  std::string why;
  const auto beside = OthersBeside(gang, gangs, &why);
  if (!beside) {
    advice["why"] = why;
    return advice;
  }
  std::vector<gains::ShrinkJob> others;
  advice["beside"] = json::array();
  for (const auto& [name, job] : *beside) {
    advice["beside"].push_back(name);
    others.push_back(job);
  }
  gains::ShrinkCase shrink{.own = *gang.job,
                           .others = others,
                           .nodes = static_cast<int>(gang.nodes.size()),
                           .part = gang.bytes > 0 ? gang.reduced_bytes / gang.bytes : 1};
  json codec = json::object();
  SetCodec(gang, &shrink, &codec);
  const gains::ShrinkGain gain = gains::GainOfShrink(shrink);
  advice["stepSeconds"] = gain.before_s;
  if (gain.why_not) {
    advice["why"] = gains::InWords(*gain.why_not);
    return advice;
  }
  advice.update(codec);
  advice.update({{"bf16Seconds", gain.after_s[static_cast<std::size_t>(ShrinkTo::kBf16)]},
                 {"q8Seconds", gain.after_s[static_cast<std::size_t>(ShrinkTo::kQ8)]},
                 {"level", gain.level == ShrinkTo::kBf16 ? "bf16" : "q8"},
                 {"gain", gain.gain()}});
  return advice;
}

// Returns what a codec would gain, as a sentence without the name of the gang.
std::string GainText(const json& gang) {
  const std::string level = TextAt(gang, {"level"});
  const bool bf16 = level == "bf16";
  std::string beside;
  for (const json& name : ListAt(gang, {"beside"})) beside += (beside.empty() ? "" : ", ") + kube::Text(name);
  std::string text =
      "beside " + beside + " a step takes " + InMs(gang, "stepSeconds") + " ms, and " +
      InMs(gang, bf16 ? "bf16Seconds" : "q8Seconds") + " ms with " + level + ", " +
      Number(NumberAt(gang, "gain"), 2) + " times as fast, if its all-reduces are of float32; " +
      InMs(gang, bf16 ? "q8Seconds" : "bf16Seconds") + " ms with " + (bf16 ? "q8" : "bf16") + ".";
  if (const std::string left_out = TextAt(gang, {"codecLeftOut"}); !left_out.empty())
    text += " The time of the codec is left out: " + left_out + ".";
  return text;
}

}  // namespace

json ShrinkAdvice(const json& gpu_nodes, const json& profiles, const std::string& name_space) {
  const Gangs gangs = GangsOn(ParsedGpuNodes(gpu_nodes), ParsedProfiles(profiles));
  std::vector<json> judged;
  for (const auto& [name, gang] : gangs) {
    if (name_space.empty() || gang.name_space == name_space)
      judged.push_back(Judged(gang, gangs, {{"namespace", gang.name_space}, {"gang", name}}));
  }
  std::ranges::stable_sort(
      judged, [](const json& a, const json& b) { return NumberAt(a, "gain") > NumberAt(b, "gain"); });
  return judged;
}

std::string ShrinkText(const json& advice, bool wide) {
  std::string text;
  for (const json& gang : advice) {
    const std::string why = TextAt(gang, {"why"});
    if (why.empty()) {
      text += TextAt(gang, {"gang"}) + ": " + GainText(gang) + "\n";
    } else if (wide) {
      text += TextAt(gang, {"gang"}) + ": none, as " + why + "\n";
    }
  }
  return text;
}

void ExplainShrink(const json& gpu_nodes, const json& profiles, json* explanation) {
  std::set<std::string> gangs, asked;
  for (const json& pod : ListAt(*explanation, {"pods"})) {
    const std::string gang = TextAt(pod, {"gang"});
    const base::ShrinkLevelName* level = base::ShrinkLevelOf(TextAt(pod, {"shrink"}).c_str());
    gangs.insert(gang);
    if (level != nullptr && base::Narrows(level->level)) asked.insert(gang);
  }
  json found = json::object();
  for (json& gang : ShrinkAdvice(gpu_nodes, profiles, "")) {
    const std::string name = TextAt(gang, {"gang"});
    if (gangs.contains(name) && !asked.contains(name)) found[name] = std::move(gang);
  }
  if (!found.empty()) (*explanation)["reductions"] = std::move(found);
}

std::string ShrinkLine(const json& gang) {
  if (!gang.is_object()) return "";
  const std::string why = TextAt(gang, {"why"});
  return "  compressed reductions: " + (why.empty() ? GainText(gang) : "none, as " + why + ".") + "\n";
}

}  // namespace crossover::cli
