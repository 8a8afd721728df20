#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "common/api/communication_json.h"
#include "common/api/fields.h"
#include "common/api/gpu_node.h"
#include "common/kube/timestamp.h"
#include "common/text/number.h"

namespace crossover::api {
namespace {

using kube::At;
using nlohmann::json;

constexpr double kMostSeconds = 3600;  // for one iteration
constexpr double kMostJitter = 1e3;
constexpr double kMostGain = 16;
constexpr double kMostGpus = 256;
constexpr double kMostPods = 1e6;  // of a gang
constexpr double kMostRank = 65535;
constexpr double kMostBytes = 1e15;
constexpr std::size_t kMostMeetingsOfJob = 16;
constexpr std::size_t kMostPeers = 16;

// Returns the figure, or nothing if it is no number from 0 to `most`.
std::optional<double> FigureIn(const json& object, const char* key, double most) {
  const json& value = At(object, key);
  const double figure = value.is_number() ? value.get<double>() : -1;
  return figure >= 0 && figure <= most ? std::optional(figure) : std::nullopt;
}

double Rounded(double value) { return text::ToFourFigures(value); }

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
                   .compute_s = FigureIn(object, "computeSeconds", kMostSeconds),
                   .exposed_s = FigureIn(object, "exposedSeconds", kMostSeconds),
                   .step_alone_s = FigureIn(object, "stepAloneSeconds", kMostSeconds),
                   .jitter = FigureIn(object, "jitter", kMostJitter),
                   .peak_memory = {},
                   .source = TextIn(object, "source"),
                   .iterations = static_cast<int>(NumberIn(object, "iterations", kMostIterations)),
                   .began_s = TimeIn(object, "beganAt"),
                   .at_s = TimeIn(object, "measuredAt"),
                   .disturbed_s = TimeIn(object, "disturbedAt"),
                   .ended = IsTrue(object, "ended"),
                   .ranks = RanksOf(object, models),
                   .communication = CallsOf(object),
                   .meetings = {},
                   .gang_size = static_cast<int>(NumberIn(object, "gangSize", kMostPods))};
  if (const auto bytes = FigureIn(object, "peakMemoryBytes", kMostBytes))
    job.peak_memory = static_cast<std::uint64_t>(*bytes);
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

namespace {

json MeetingJson(const GpuNode::Meeting& meeting) {
  json beside = json::array();
  for (const GpuNode::Meeting::Peer& peer : meeting.beside)
    beside.push_back({{"namespace", peer.name_space}, {"gang", peer.gang}, {"profileKey", peer.key}});
  return {{"beside", beside},
          {"gain", Rounded(meeting.gain)},
          {"measuredAt", kube::WriteTimestamp(meeting.at_s)}};
}

json RankJson(const GpuNode::Rank& rank) {
  json object = {{"pod", rank.pod},
                 {"gpu", rank.gpu},
                 {"rank", rank.number},
                 {"computeSeconds", Rounded(rank.compute_s)}};
  if (rank.wait_s > 0) object["waitSeconds"] = Rounded(rank.wait_s);
  if (rank.input_s > 0) object["inputSeconds"] = Rounded(rank.input_s);
  return object;
}

json JobJson(const GpuNode::Job& job) {
  json object = {{"namespace", job.name_space},
                 {"gang", job.gang},
                 {"profileKey", job.key},
                 {"gpus", job.gpus},
                 {"iterations", job.iterations},
                 {"beganAt", kube::WriteTimestamp(job.began_s)},
                 {"measuredAt", kube::WriteTimestamp(job.at_s)},
                 {"ended", job.ended}};
  if (job.gang_size != 0) object["gangSize"] = job.gang_size;
  if (job.compute_s) object["computeSeconds"] = Rounded(*job.compute_s);
  if (job.exposed_s) object["exposedSeconds"] = Rounded(*job.exposed_s);
  if (job.step_alone_s) object["stepAloneSeconds"] = Rounded(*job.step_alone_s);
  if (job.jitter) object["jitter"] = Rounded(*job.jitter);
  if (job.peak_memory) object["peakMemoryBytes"] = *job.peak_memory;
  if (!job.source.empty()) object["source"] = job.source;
  if (job.disturbed_s > 0) object["disturbedAt"] = kube::WriteTimestamp(job.disturbed_s);
  for (const GpuNode::Rank& rank : job.ranks) object["ranks"].push_back(RankJson(rank));
  for (const NcclCall& call : job.communication) object["communication"].push_back(WriteCall(call));
  for (const GpuNode::Meeting& meeting : job.meetings) object["meetings"].push_back(MeetingJson(meeting));
  return object;
}

}  // namespace

json WriteJobs(std::span<const GpuNode::Job> jobs) {
  json array = json::array();
  for (const GpuNode::Job& job : jobs) array.push_back(JobJson(job));
  return array;
}

}  // namespace crossover::api
