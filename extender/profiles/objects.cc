#include "extender/profiles/objects.h"

#include <nlohmann/json.hpp>

#include "common/base/hash.h"
#include "common/base/names.h"
#include "common/kube/timestamp.h"
#include "common/text/number.h"
#include "extender/cluster/fields.h"
#include "extender/cluster/parse.h"
#include "extender/profiles/figures.h"
#include "extender/profiles/merge.h"

namespace crossover::extender {
namespace {

using kube::At;
using nlohmann::json;

constexpr std::size_t kReadable = 40;  // characters of the key in the object's name
constexpr double kMany = 1e9;
constexpr double kMostBytes = 1e15;

// Rounds to four figures: more of them are noise.
double Rounded(double value) { return text::ToFourFigures(value); }

ProfileRun RunOf(const json& object) {
  return {.gang = TextIn(object, "gang"),
          .began_s = TimeIn(object, "beganAt"),
          .at_s = TimeIn(object, "lastSeen"),
          .gpus = static_cast<int>(NumberIn(object, "gpus", 1e6)),
          .iterations = static_cast<int>(NumberIn(object, "iterations", 1e6)),
          .estimated = IsTrue(object, "estimated"),
          .disturbed = IsTrue(object, "disturbed"),
          .shared = IsTrue(object, "shared"),
          .compute_s = NumberIn(object, "computeSeconds", kMany),
          .exposed_s = NumberIn(object, "exposedSeconds", kMany),
          .jitter = NumberIn(object, "jitter", kMany),
          .peak_memory = static_cast<std::uint64_t>(NumberIn(object, "peakMemoryBytes", kMostBytes))};
}

json RunJson(const ProfileRun& run) {
  json object = {{"gang", run.gang},
                 {"beganAt", kube::WriteTimestamp(run.began_s)},
                 {"lastSeen", kube::WriteTimestamp(run.at_s)},
                 {"gpus", run.gpus},
                 {"iterations", run.iterations},
                 {"estimated", run.estimated},
                 {"disturbed", run.disturbed},
                 {"computeSeconds", Rounded(run.compute_s)},
                 {"exposedSeconds", Rounded(run.exposed_s)},
                 {"jitter", Rounded(run.jitter)},
                 {"peakMemoryBytes", run.peak_memory}};
  // A run without the field may be older than the field, so it is not known whether it shared.
  if (run.shared) object["shared"] = true;
  return object;
}

ProfileMeeting MeetingOf(const json& object) {
  ProfileMeeting meeting{
      .name_space = TextIn(object, "namespace"), .key = TextIn(object, "key"), .gains = {}};
  const json& gains = At(object, "gains");
  if (!gains.is_array()) return meeting;
  for (const json& gain : gains) {
    if (meeting.gains.size() >= kMostGains) break;
    meeting.gains.push_back({.gang = TextIn(gain, "gang"),
                             .other = TextIn(gain, "otherGang"),
                             .gain = NumberIn(gain, "gain", kMany),
                             .at_s = TimeIn(gain, "measuredAt")});
  }
  return meeting;
}

json MeetingJson(const ProfileMeeting& meeting, const ProfileSettings& settings) {
  json gains = json::array();
  for (const ProfileGain& gain : meeting.gains) {
    gains.push_back({{"gang", gain.gang},
                     {"otherGang", gain.other},
                     {"gain", Rounded(gain.gain)},
                     {"measuredAt", kube::WriteTimestamp(gain.at_s)}});
  }
  return {{"namespace", meeting.name_space},
          {"key", meeting.key},
          {"gain", Rounded(GainOf(meeting, settings))},
          {"gains", gains}};
}

void ReadStatus(const json& status, ProfileRecord* record) {
  if (const json& runs = At(status, "runs"); runs.is_array()) {
    for (const json& object : runs) {
      ProfileRun run = RunOf(object);
      if (!run.gang.empty() && record->runs.size() < kMostRuns) record->runs.push_back(std::move(run));
    }
  }
  if (const json& meetings = At(status, "meetings"); meetings.is_array()) {
    for (const json& object : meetings) {
      ProfileMeeting meeting = MeetingOf(object);
      if (!meeting.key.empty() && !meeting.gains.empty() && record->meetings.size() < kMostMeetings)
        record->meetings.push_back(std::move(meeting));
    }
  }
}

json Head(const ProfileId& id, const std::string& name) {
  return {{"apiVersion", CROSSOVER_DOMAIN "/v1alpha1"},
          {"kind", "JobProfile"},
          {"metadata", {{"name", name}, {"namespace", id.first}}}};
}

}  // namespace

std::string ProfileNameOf(const std::string& key) {
  std::string name;
  for (const char c : key.substr(0, kReadable)) {
    const bool small = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
    const bool large = c >= 'A' && c <= 'Z';
    name += small ? c : large ? static_cast<char>(c - 'A' + 'a') : '-';
  }
  // Erases the whole name if it has nothing but '-'.
  name.erase(0, name.find_first_not_of('-'));
  return (name.empty() ? "profile" : name) + "-" + base::HexOf(base::Hash(key)).data();
}

std::optional<std::pair<ProfileId, ProfileRecord>> ParseRecord(const json& object) {
  const json& metadata = At(object, "metadata");
  const json& spec = At(object, "spec");
  ProfileRecord record{.name = TextIn(metadata, "name"), .hinted = false, .runs = {}, .meetings = {}};
  const std::string name_space = TextIn(metadata, "namespace");
  if (record.name.empty() || name_space.empty()) return std::nullopt;
  std::string key = TextIn(spec, "key");
  if (key.empty()) key = record.name;
  record.hinted = HasHints(spec);
  ReadStatus(At(object, "status"), &record);
  return std::pair{ProfileId{name_space, std::move(key)}, std::move(record)};
}

json ObjectBody(const ProfileId& id, const std::string& name) {
  json body = Head(id, name);
  body["spec"]["key"] = id.second;
  return body;
}

json StatusBody(const ProfileId& id, const ProfileRecord& record, const ProfileSettings& settings) {
  const ProfileFigures figures = FiguresOf(record, settings);
  json status = {{"samples", figures.samples}, {"runs", json::array()}, {"meetings", json::array()}};
  if (figures.samples > 0) {
    status["computeSeconds"] = Rounded(figures.compute_s);
    status["exposedSeconds"] = Rounded(figures.exposed_s);
    status["jitter"] = Rounded(figures.jitter);
  }
  if (figures.peak_memory > 0) status["peakMemoryBytes"] = figures.peak_memory;
  if (figures.gpus > 0) status["gpus"] = figures.gpus;
  if (record.last_seen_s() > 0) status["lastSeen"] = kube::WriteTimestamp(record.last_seen_s());
  for (const ProfileRun& run : record.runs) status["runs"].push_back(RunJson(run));
  for (const ProfileMeeting& meeting : record.meetings)
    status["meetings"].push_back(MeetingJson(meeting, settings));
  json body = Head(id, record.name);
  body["status"] = std::move(status);
  return body;
}

}  // namespace crossover::extender
