#include "deviceplugin/status/jobs_json.h"

#include <nlohmann/json.hpp>
#include <string>

#include "common/base/hash.h"
#include "common/kube/timestamp.h"
#include "common/text/number.h"
#include "deviceplugin/arbiter/observer.h"

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;

// Rounds to four significant digits; more of them would be noise.
double Rounded(double value) { return text::ToFourFigures(value); }

std::string TimeText(std::int64_t seconds) { return kube::WriteTimestamp(static_cast<double>(seconds)); }

json MeetingJson(const GpuNode::Meeting& meeting) {
  json beside = json::array();
  for (const GpuNode::Peer& peer : meeting.beside) {
    beside.push_back({{"namespace", peer.name_space}, {"gang", peer.gang}, {"profileKey", peer.profile_key}});
  }
  return {{"beside", beside}, {"gain", Rounded(meeting.gain)}, {"measuredAt", TimeText(meeting.at_s)}};
}

json RankJson(const GpuNode::Rank& rank) {
  json object = {
      {"pod", rank.pod}, {"gpu", rank.gpu}, {"rank", rank.rank}, {"computeSeconds", Rounded(rank.compute_s)}};
  if (rank.wait_s > 0) object["waitSeconds"] = Rounded(rank.wait_s);
  if (rank.input_s > 0) object["inputSeconds"] = Rounded(rank.input_s);
  return object;
}

json CallJson(const GpuNode::Call& call) {
  json object = {
      {"pod", call.pod},   {"communicator", base::HexOf(call.communicator).data()}, {"size", call.size},
      {"rank", call.rank}, {"function", arbiter::FunctionName(call.function)},      {"bytes", call.bytes}};
  if (call.peer) object["peer"] = *call.peer;
  return object;
}

json JobJson(const GpuNode::Job& job) {
  json object = {{"namespace", job.name_space},      {"gang", job.gang},
                 {"profileKey", job.profile_key},    {"gpus", job.gpus},
                 {"iterations", job.iterations},     {"beganAt", TimeText(job.began_s)},
                 {"measuredAt", TimeText(job.at_s)}, {"ended", job.ended}};
  if (job.gang_size != 0) object["gangSize"] = job.gang_size;
  if (job.compute_s) object["computeSeconds"] = Rounded(*job.compute_s);
  if (job.exposed_s) object["exposedSeconds"] = Rounded(*job.exposed_s);
  if (job.step_alone_s) object["stepAloneSeconds"] = Rounded(*job.step_alone_s);
  if (job.jitter) object["jitter"] = Rounded(*job.jitter);
  if (job.memory) object["peakMemoryBytes"] = *job.memory;
  if (!job.source.empty()) object["source"] = job.source;
  if (job.disturbed_s) object["disturbedAt"] = TimeText(*job.disturbed_s);
  for (const GpuNode::Rank& rank : job.ranks) object["ranks"].push_back(RankJson(rank));
  for (const GpuNode::Call& call : job.communication) object["communication"].push_back(CallJson(call));
  for (const GpuNode::Meeting& meeting : job.meetings) object["meetings"].push_back(MeetingJson(meeting));
  return object;
}

}  // namespace

json JobsJson(const std::vector<GpuNode::Job>& jobs) {
  json array = json::array();
  for (const GpuNode::Job& job : jobs) array.push_back(JobJson(job));
  return array;
}

}  // namespace crossover::deviceplugin
