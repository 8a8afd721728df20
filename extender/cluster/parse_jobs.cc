#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "extender/cluster/fields.h"
#include "extender/cluster/parse.h"
#include "extender/cluster/parse_communication.h"

namespace crossover::extender {
namespace {

using kube::At;
using nlohmann::json;

constexpr double kMostSeconds = 3600;  // for one iteration
constexpr double kMostGain = 16;
constexpr double kMostGpus = 256;
constexpr double kMostRank = 65535;
constexpr double kMostIterations = 1000;
constexpr double kMostBytes = 1e15;
constexpr std::size_t kMostMeetingsOfJob = 16;
constexpr std::size_t kMostPeers = 16;
constexpr std::size_t kMostRanksOfJob = 16;

GpuNode::Meeting MeetingOf(const json& object) {
  GpuNode::Meeting meeting{
      .beside = {}, .gain = NumberIn(object, "gain", kMostGain), .at_s = TimeIn(object, "measuredAt")};
  const json& beside = At(object, "beside");
  if (!beside.is_array() || beside.size() > kMostPeers) return meeting;
  for (const json& peer : beside)
    meeting.beside.push_back({TextIn(peer, "namespace"), TextIn(peer, "gang"), TextIn(peer, "profileKey")});
  return meeting;
}

using Models = std::map<std::string, std::string>;  // of GPUs, by UUID

Models ModelsOf(const json& gpu_node) {
  Models models;
  for (const json& gpu : kube::ListAt(At(gpu_node, "status"), "gpus"))
    models.emplace(TextIn(gpu, "uuid"), TextIn(gpu, "model"));
  return models;
}

std::vector<GpuNode::Rank> RanksOf(const json& object, const Models& models) {
  std::vector<GpuNode::Rank> ranks;
  const json& listed = At(object, "ranks");
  if (!listed.is_array() || listed.size() > kMostRanksOfJob) return ranks;
  for (const json& each : listed) {
    GpuNode::Rank rank{.pod = TextIn(each, "pod"),
                       .compute_s = NumberIn(each, "computeSeconds", kMostSeconds),
                       .wait_s = NumberIn(each, "waitSeconds", kMostSeconds),
                       .input_s = NumberIn(each, "inputSeconds", kMostSeconds)};
    rank.gpu = TextIn(each, "gpu");
    const auto model = models.find(rank.gpu);
    if (model != models.end()) rank.model = model->second;
    if (At(each, "rank").is_number_unsigned())
      rank.number = static_cast<int>(NumberIn(each, "rank", kMostRank));
    if (!rank.pod.empty() && rank.compute_s > 0) ranks.push_back(std::move(rank));
  }
  return ranks;
}

GpuNode::Job JobOf(const json& object, const Models& models) {
  GpuNode::Job job{.name_space = TextIn(object, "namespace"),
                   .gang = TextIn(object, "gang"),
                   .key = TextIn(object, "profileKey"),
                   .gpus = static_cast<int>(NumberIn(object, "gpus", kMostGpus)),
                   .compute_s = NumberIn(object, "computeSeconds", kMostSeconds),
                   .exposed_s = NumberIn(object, "exposedSeconds", kMostSeconds),
                   .step_alone_s = NumberIn(object, "stepAloneSeconds", kMostSeconds),
                   .jitter = NumberIn(object, "jitter", 1e3),
                   .peak_memory = static_cast<std::uint64_t>(NumberIn(object, "peakMemoryBytes", kMostBytes)),
                   .estimated = TextIn(object, "source") == "estimated",
                   .iterations = static_cast<int>(NumberIn(object, "iterations", kMostIterations)),
                   .began_s = TimeIn(object, "beganAt"),
                   .at_s = TimeIn(object, "measuredAt"),
                   .disturbed_s = TimeIn(object, "disturbedAt"),
                   .ended = IsTrue(object, "ended"),
                   .ranks = RanksOf(object, models),
                   .communication = CallsOf(object),
                   .meetings = {}};
  const json& meetings = At(object, "meetings");
  if (!meetings.is_array()) return job;
  for (const json& met : meetings) {
    GpuNode::Meeting meeting = MeetingOf(met);
    if (meeting.gain > 0 && meeting.at_s > 0 && job.meetings.size() < kMostMeetingsOfJob)
      job.meetings.push_back(std::move(meeting));
  }
  return job;
}

}  // namespace

std::vector<GpuNode::Job> JobsOf(const json& gpu_node) {
  std::vector<GpuNode::Job> jobs;
  const json& listed = At(At(gpu_node, "status"), "jobs");
  if (!listed.is_array()) return jobs;
  const Models models = ModelsOf(gpu_node);
  for (const json& object : listed) {
    if (jobs.size() >= kMostJobsOfNode) break;
    GpuNode::Job job = JobOf(object, models);
    job.node = TextAt(At(gpu_node, "metadata"), "name");
    const bool sound =
        !job.name_space.empty() && !job.gang.empty() && job.at_s > 0 && job.began_s <= job.at_s;
    if (sound) jobs.push_back(std::move(job));
  }
  return jobs;
}

}  // namespace crossover::extender
