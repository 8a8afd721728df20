#include "common/api/job_profile.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/api/communication_json.h"
#include "common/api/fields.h"
#include "common/kube/timestamp.h"
#include "common/text/number.h"

namespace crossover::api {
namespace {

using kube::At;
using kube::ListAt;
using nlohmann::json;

constexpr std::int64_t kMostGpus = 1 << 20;
constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;  // of GPU memory; small enough for sums to fit
constexpr double kMostOfRun = 1e6;                          // GPUs, and iterations
constexpr double kMostSeconds = 1e9;                        // and of jitter, which is a ratio
constexpr double kMostGain = 1e9;

double Rounded(double value) { return text::ToFourFigures(value); }

// Reads the times from `figures`, which is the spec (hints of a user) or the status (measurements). Returns
// false and changes nothing if it has no compute time.
bool ReadFigures(const json& figures, JobProfile* profile) {
  const double compute = RealAt(figures, "computeSeconds");
  if (compute <= 0) return false;
  profile->compute_s = compute;
  profile->exposed_s = RealAt(figures, "exposedSeconds");
  return true;
}

// Returns whether a user wrote figures into the spec.
bool HasHints(const json& spec) {
  constexpr std::array<const char*, 3> kHints = {"computeSeconds", "exposedSeconds", "peakMemoryBytes"};
  return std::any_of(kHints.begin(), kHints.end(),
                     [&spec](const char* hint) { return !At(spec, hint).is_null(); });
}

JobProfile::Slowest SlowestOf(const json& object) {
  return {.pod = TextIn(object, "pod"),
          .node = TextIn(object, "node"),
          .compute_s = NumberIn(object, "computeSeconds", kMostSeconds),
          .since_s = TimeIn(object, "since")};
}

JobProfile::InputWait InputWaitOf(const json& object) {
  return {.pod = TextIn(object, "pod"),
          .node = TextIn(object, "node"),
          .seconds = NumberIn(object, "seconds", kMostSeconds)};
}

std::optional<bool> SharedIn(const json& run) {
  const json& shared = At(run, "shared");
  return shared.is_boolean() ? std::optional(shared.get<bool>()) : std::nullopt;
}

JobProfile::Run RunOf(const json& object) {
  return {.gang = TextIn(object, "gang"),
          .began_s = TimeIn(object, "beganAt"),
          .at_s = TimeIn(object, "lastSeen"),
          .gpus = static_cast<int>(NumberIn(object, "gpus", kMostOfRun)),
          .nodes = static_cast<int>(NumberIn(object, "nodes", kMostOfRun)),
          .iterations = static_cast<int>(NumberIn(object, "iterations", kMostOfRun)),
          .estimated = IsTrue(object, "estimated"),
          .disturbed = IsTrue(object, "disturbed"),
          .shared = SharedIn(object),
          .compute_s = NumberIn(object, "computeSeconds", kMostSeconds),
          .exposed_s = NumberIn(object, "exposedSeconds", kMostSeconds),
          .jitter = NumberIn(object, "jitter", kMostSeconds),
          .peak_memory = static_cast<std::uint64_t>(
              NumberIn(object, "peakMemoryBytes", static_cast<double>(kMostBytes))),
          .median_s = NumberIn(object, "medianSeconds", kMostSeconds),
          .slowest = SlowestOf(At(object, "slowest")),
          .input = InputWaitOf(At(object, "inputWait")),
          .uplink_s = NumberIn(object, "uplinkSeconds", kMostSeconds),
          .least_uplink_s = NumberIn(object, "leastUplinkSeconds", kMostSeconds)};
}

JobProfile::Meeting MeetingOf(const json& object) {
  JobProfile::Meeting meeting{.name_space = TextIn(object, "namespace"),
                              .key = TextIn(object, "key"),
                              .gain = RealAt(object, "gain")};
  for (const json& gain : ListAt(object, "gains")) {
    if (meeting.gains.size() >= kMostGains) break;
    meeting.gains.push_back({.gang = TextIn(gain, "gang"),
                             .other = TextIn(gain, "otherGang"),
                             .gain = NumberIn(gain, "gain", kMostGain),
                             .at_s = TimeIn(gain, "measuredAt")});
  }
  return meeting;
}

}  // namespace

std::optional<JobProfile> ParseJobProfile(const json& object) {
  const json& metadata = At(object, "metadata");
  const json& spec = At(object, "spec");
  const json& status = At(object, "status");
  JobProfile profile;
  profile.name_space = TextIn(metadata, "namespace");
  profile.name = TextIn(metadata, "name");
  if (profile.name_space.empty() || profile.name.empty()) return std::nullopt;
  profile.key = TextIn(spec, "key");
  if (profile.key.empty()) profile.key = profile.name;
  if (!ReadFigures(status, &profile)) profile.hinted = ReadFigures(spec, &profile);
  profile.has_hints = HasHints(spec);
  profile.jitter = RealAt(status, "jitter");
  const std::int64_t peak = WholeAt(status, "peakMemoryBytes", 0, kMostBytes);
  profile.peak_memory =
      static_cast<std::uint64_t>(peak > 0 ? peak : WholeAt(spec, "peakMemoryBytes", 0, kMostBytes));
  profile.link_bytes = static_cast<double>(WholeAt(status, "linkBytes", 0, kMostBytes));
  profile.gpus = static_cast<int>(WholeAt(status, "gpus", 0, kMostGpus));
  for (const json& each : ListAt(status, "runs")) {
    if (profile.runs.size() >= kMostRuns) break;
    if (JobProfile::Run run = RunOf(each); !run.gang.empty()) profile.runs.push_back(std::move(run));
  }
  const auto newest = std::ranges::max_element(profile.runs, {}, &JobProfile::Run::at_s);
  if (newest != profile.runs.end()) profile.input_s = newest->input.seconds;
  for (const json& each : ListAt(status, "meetings")) {
    JobProfile::Meeting meeting = MeetingOf(each);
    if (meeting.gain > 0 || !meeting.gains.empty()) profile.meetings.push_back(std::move(meeting));
  }
  profile.communication = CommunicationOf(status);
  return profile;
}

json WriteRun(const JobProfile::Run& run) {
  json object = {{"gang", run.gang},
                 {"beganAt", kube::WriteTimestamp(run.began_s)},
                 {"lastSeen", kube::WriteTimestamp(run.at_s)},
                 {"gpus", run.gpus},
                 {"nodes", run.nodes},
                 {"iterations", run.iterations},
                 {"estimated", run.estimated},
                 {"disturbed", run.disturbed},
                 {"computeSeconds", Rounded(run.compute_s)},
                 {"exposedSeconds", Rounded(run.exposed_s)},
                 {"jitter", Rounded(run.jitter)},
                 {"peakMemoryBytes", run.peak_memory}};
  if (run.median_s > 0) {
    json& slowest = object["slowest"];
    object["medianSeconds"] = Rounded(run.median_s);
    slowest = {{"pod", run.slowest.pod},
               {"node", run.slowest.node},
               {"computeSeconds", Rounded(run.slowest.compute_s)}};
    if (run.slowest.since_s > 0) slowest["since"] = kube::WriteTimestamp(run.slowest.since_s);
  }
  if (run.input.seconds > 0) {
    object["inputWait"] = {
        {"pod", run.input.pod}, {"node", run.input.node}, {"seconds", Rounded(run.input.seconds)}};
  }
  if (run.uplink_s > 0) {
    object["uplinkSeconds"] = Rounded(run.uplink_s);
    object["leastUplinkSeconds"] = Rounded(run.least_uplink_s);
  }
  if (run.shared.value_or(false)) object["shared"] = true;
  return object;
}

json WriteMeeting(const JobProfile::Meeting& meeting) {
  json gains = json::array();
  for (const JobProfile::Gain& gain : meeting.gains) {
    gains.push_back({{"gang", gain.gang},
                     {"otherGang", gain.other},
                     {"gain", Rounded(gain.gain)},
                     {"measuredAt", kube::WriteTimestamp(gain.at_s)}});
  }
  return {{"namespace", meeting.name_space},
          {"key", meeting.key},
          {"gain", Rounded(meeting.gain)},
          {"gains", gains}};
}

}  // namespace crossover::api
