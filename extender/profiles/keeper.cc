#include "extender/profiles/keeper.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/names.h"
#include "common/kube/json.h"
#include "common/kube/pages.h"
#include "common/logging/log.h"
#include "extender/profiles/merge.h"
#include "extender/profiles/objects.h"

namespace crossover::extender {
namespace {

using nlohmann::json;

constexpr char kRoot[] = "/apis/" CROSSOVER_DOMAIN "/v1alpha1";
constexpr char kApply[] = "?fieldManager=crossover-extender&force=true";
constexpr double kReadAnewS = 600;  // users create and remove profiles, too
constexpr long kNotFound = 404;

bool IsDone(long status) { return status == 200 || status == 201; }

double Clock() {
  const auto since = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since).count();
}

bool IsOurs(const ProfileId& id, const ProfileRecord& record) {
  return !record.has_hints && record.name == ProfileNameOf(id.second);
}

// Returns whether a rank of the latest run has become slow since `before`.
bool IsNewlySlow(const ProfileRecord* before, const ProfileRecord& now) {
  if (now.runs.empty() || now.runs.back().slowest.since_s == 0) return false;
  return before == nullptr || before->runs.empty() ||
         before->runs.back().slowest.since_s != now.runs.back().slowest.since_s;
}

std::string NameOf(const ProfileChange& change) {
  return "JobProfile " + change.id.first + "/" + change.record.name;
}

std::string PathOf(const ProfileChange& change) {
  return kRoot + ("/namespaces/" + change.id.first) + "/jobprofiles/" + change.record.name;
}

}  // namespace

ProfileKeeper::ProfileKeeper(kube::Access access, const ProfileSettings& settings, Dependencies around)
    : client_(std::move(access)),
      settings_(settings),
      around_(std::move(around)),
      task_("xo-profiles", around_.period, [this] { Round(); }) {}

void ProfileKeeper::Round() {
  if (!around_.leads()) {
    read_s_.reset();  // another replica writes the profiles now
    return;
  }
  const double now_s = around_.now_s ? around_.now_s() : Clock();
  const auto jobs = around_.jobs();
  if (!jobs) return;
  if ((!read_s_ || now_s - *read_s_ > kReadAnewS) && !ReadAll(now_s)) return;
  const PodOrder order = around_.order ? around_.order(*jobs) : PodOrder{};
  // Without the order of pods no call counts, and no uplink has a time.
  const NodePlaces places = around_.places && !order.empty() ? around_.places() : NodePlaces{};
  merged_ = Merge(std::move(merged_), *jobs, now_s, settings_, order, places);
  std::size_t done = 0;
  const std::vector<ProfileChange> changes = ChangesOf(known_, merged_, now_s, settings_);
  for (const ProfileChange& change : changes) {
    const auto tried = tried_s_.find(change.id);
    if (tried != tried_s_.end() && now_s - tried->second < settings_.least_gap_s) continue;
    if (done++ == kMostOfRound || !around_.leads()) break;
    if (change.kind == ProfileChange::Kind::kCreate && around_.is_there && around_.is_there(change.id)) {
      read_s_.reset();  // a user created one; the next round reads it
      continue;
    }
    tried_s_[change.id] = now_s;
    if (!Carry(change)) {
      ++failures_;
      continue;
    }
    if (change.kind == ProfileChange::Kind::kRemove) {
      known_.erase(change.id);
      merged_.erase(change.id);
      continue;
    }
    const auto known = known_.find(change.id);
    const bool slow = IsNewlySlow(known == known_.end() ? nullptr : &known->second, change.record);
    if (slow && around_.tell_slow) around_.tell_slow(change.id, change.record.runs.back());
    known_[change.id] = change.record;
    merged_[change.id].name = change.record.name;
  }
  RemoveDuplicates(changes, done);
  std::erase_if(tried_s_, [&](const auto& entry) { return now_s - entry.second > settings_.least_gap_s; });
}

// A duplicate is removed once its record is written to the profile that stays. Duplicates that cannot be
// removed are found again when all profiles are read the next time.
void ProfileKeeper::RemoveDuplicates(const std::vector<ProfileChange>& to_come, std::size_t done) {
  std::erase_if(duplicates_, [&](const ProfileChange& duplicate) {
    const bool is_to_come =
        std::ranges::any_of(to_come, [&](const ProfileChange& change) { return change.id == duplicate.id; });
    if (is_to_come || done >= kMostOfRound || !around_.leads()) return false;
    ++done;
    if (!Carry(duplicate)) ++failures_;
    return true;
  });
}

// Reads all profiles, and returns whether it could. Drops what was merged but not written yet: the nodes
// report it again, or it was too little to write.
bool ProfileKeeper::ReadAll(double now_s) {
  ProfileRecords known;
  std::vector<std::pair<ProfileId, ProfileRecord>> others;
  std::string next;
  do {
    const kube::Response response =
        client_.Get(std::string(kRoot) + "/jobprofiles?" + kube::PageParameters(next));
    const json list = json::parse(response.body, nullptr, false);
    if (response.status != 200 || !kube::At(list, "items").is_array()) {
      ++failures_;
      Complain("JobProfiles", "cannot be read: " + WhyNot(response));
      return false;
    }
    for (const json& item : kube::At(list, "items")) {
      auto profile = api::ParseJobProfile(item);
      if (!profile) continue;
      auto [id, record] = RecordOf(*std::move(profile));
      const auto [entry, is_first] = known.try_emplace(id, record);
      if (is_first) continue;
      // If two profiles have the same key, the one with the user's figures counts, as it does for
      // placement.
      if (record.has_hints && !entry->second.has_hints) std::swap(record, entry->second);
      others.emplace_back(std::move(id), std::move(record));
    }
    next = kube::NextPageOf(list);
  } while (!next.empty());
  known_ = merged_ = std::move(known);
  duplicates_.clear();
  for (auto& [id, other] : others) {
    Join(other, &merged_[id]);
    if (IsOurs(id, other))
      duplicates_.push_back({.kind = ProfileChange::Kind::kRemove, .id = id, .record = std::move(other)});
  }
  read_s_ = now_s;
  return true;
}

bool ProfileKeeper::Carry(const ProfileChange& change) {
  if (change.kind == ProfileChange::Kind::kRemove) {
    const kube::Response response = client_.Send({.method = "DELETE", .path = PathOf(change), .body = ""});
    const bool gone = response.status == 200 || response.status == kNotFound;
    if (gone) ++removed_;
    if (!gone) Complain(NameOf(change), "cannot be removed: " + WhyNot(response));
    return gone;
  }
  if (change.kind == ProfileChange::Kind::kCreate &&
      !IsDone(Apply(change, "", kube::Dump(ObjectBody(change.id, change.record.name)))))
    return false;
  const long status = Apply(change, "/status", kube::Dump(StatusBody(change.id, change.record, settings_)));
  if (status == kNotFound)
    known_.erase(change.id);  // the profile was removed: the next round creates it again
  if (!IsDone(status)) return false;
  ++written_;
  complaint_.clear();
  return true;
}

long ProfileKeeper::Apply(const ProfileChange& change, const std::string& part, const std::string& body) {
  const kube::Response response = client_.Send({.method = "PATCH",
                                                .path = PathOf(change) + part + kApply,
                                                .body = body,
                                                .content_type = "application/apply-patch+yaml"});
  if (!IsDone(response.status)) Complain(NameOf(change), "cannot be written: " + WhyNot(response));
  return response.status;
}

void ProfileKeeper::Complain(const std::string& object, const std::string& complaint) {
  if (complaint != complaint_) logging::Warn(object + " " + complaint);
  complaint_ = complaint;
}

}  // namespace crossover::extender
