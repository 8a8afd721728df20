#include "extender/profiles/objects.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "common/api/communication_json.h"
#include "common/base/hash.h"
#include "common/base/names.h"
#include "common/kube/timestamp.h"
#include "common/text/number.h"
#include "extender/profiles/figures.h"
#include "extender/profiles/flows.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

constexpr std::size_t kReadable = 40;  // characters of the key in the object's name

// Returns the value rounded to four figures: more of them are noise.
double Rounded(double value) { return text::ToFourFigures(value); }

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
  // Erases the whole name if it has only '-'.
  name.erase(0, name.find_first_not_of('-'));
  return (name.empty() ? "profile" : name) + "-" + base::HexOf(base::Hash(key)).data();
}

std::pair<ProfileId, ProfileRecord> RecordOf(JobProfile profile) {
  std::erase_if(profile.meetings,
                [](const ProfileMeeting& meeting) { return meeting.key.empty() || meeting.gains.empty(); });
  if (profile.meetings.size() > kMostMeetings) profile.meetings.resize(kMostMeetings);
  return {ProfileId{std::move(profile.name_space), std::move(profile.key)},
          ProfileRecord{.name = std::move(profile.name),
                        .has_hints = profile.has_hints,
                        .runs = std::move(profile.runs),
                        .meetings = std::move(profile.meetings),
                        .communication = std::move(profile.communication)}};
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
  for (const ProfileRun& run : record.runs) status["runs"].push_back(api::WriteRun(run));
  for (ProfileMeeting meeting : record.meetings) {
    meeting.gain = GainOf(meeting, settings);
    status["meetings"].push_back(api::WriteMeeting(meeting));
  }
  if (!record.communication.groups.empty())
    status["communication"] = api::WriteCommunication(record.communication);
  if (const std::uint64_t bytes = LinkBytesOf(record.communication); bytes > 0) status["linkBytes"] = bytes;
  json body = Head(id, record.name);
  body["status"] = std::move(status);
  return body;
}

}  // namespace crossover::extender
