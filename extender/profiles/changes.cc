#include "extender/profiles/changes.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "extender/profiles/figures.h"
#include "extender/profiles/objects.h"

namespace crossover::extender {
namespace {

bool Moved(double before, double after, double noticeable) {
  return std::abs(after - before) > noticeable * std::max(std::abs(before), std::abs(after));
}

bool HaveGainsMoved(const ProfileRecord& was, const ProfileRecord& is, const ProfileSettings& settings) {
  if (was.meetings.size() != is.meetings.size()) return true;
  return std::ranges::any_of(is.meetings, [&](const ProfileMeeting& meeting) {
    const auto before = std::ranges::find_if(was.meetings, [&](const ProfileMeeting& m) {
      return m.name_space == meeting.name_space && m.key == meeting.key;
    });
    return before == was.meetings.end() ||
           Moved(GainOf(*before, settings), GainOf(meeting, settings), settings.noticeable);
  });
}

auto HowManyShared(const ProfileRecord& record) {
  return std::ranges::count_if(record.runs, [](const ProfileRun& run) { return run.shared.value_or(false); });
}

// Returns whether the latest run has another slow rank than before, or has it no more.
bool HasSlowRankChanged(const ProfileRecord& was, const ProfileRecord& is, const ProfileSettings& settings) {
  if (was.runs.empty() || is.runs.empty()) return false;  // the number of samples has changed
  const JobProfile::Slowest &before = was.runs.back().slowest, &after = is.runs.back().slowest;
  if (before.since_s == 0 && after.since_s == 0) return false;  // which rank is the slowest is noise
  return std::tie(before.pod, before.node, before.since_s) !=
             std::tie(after.pod, after.node, after.since_s) ||
         Moved(before.compute_s, after.compute_s, settings.noticeable);
}

// Returns whether a rank of the latest run waits for its input for longer or shorter than before.
bool HasInputMoved(const ProfileRecord& was, const ProfileRecord& is, const ProfileSettings& settings) {
  if (was.runs.empty() || is.runs.empty()) return false;  // the number of samples has changed
  const ProfileRun &before = was.runs.back(), &after = is.runs.back();
  return std::abs(after.input.seconds - before.input.seconds) >
         settings.noticeable * (after.compute_s + after.exposed_s);
}

// Returns whether the latest run's uplinks carry for longer or shorter than before.
bool HaveUplinksMoved(const ProfileRecord& was, const ProfileRecord& is, const ProfileSettings& settings) {
  if (was.runs.empty() || is.runs.empty()) return false;  // the number of samples has changed
  const ProfileRun &before = was.runs.back(), &after = is.runs.back();
  return Moved(before.uplink_s, after.uplink_s, settings.noticeable) ||
         Moved(before.least_uplink_s, after.least_uplink_s, settings.noticeable);
}

bool IsNoticeable(const ProfileRecord& was, const ProfileRecord& is, const ProfileSettings& settings) {
  const ProfileFigures before = FiguresOf(was, settings), after = FiguresOf(is, settings);
  const auto moved = [&settings](double a, double b) { return Moved(a, b, settings.noticeable); };
  return before.samples != after.samples || HowManyShared(was) != HowManyShared(is) ||
         before.gpus != after.gpus || moved(before.compute_s, after.compute_s) ||
         moved(before.exposed_s, after.exposed_s) || moved(before.jitter, after.jitter) ||
         moved(static_cast<double>(before.peak_memory), static_cast<double>(after.peak_memory)) ||
         HaveGainsMoved(was, is, settings) || HasSlowRankChanged(was, is, settings) ||
         HasInputMoved(was, is, settings) || HaveUplinksMoved(was, is, settings) ||
         was.communication != is.communication || is.last_seen_s() - was.last_seen_s() > settings.refresh_s;
}

}  // namespace

std::vector<ProfileChange> ChangesOf(const ProfileRecords& known, const ProfileRecords& merged, double now_s,
                                     const ProfileSettings& settings) {
  std::vector<ProfileChange> changes;
  for (const auto& [id, record] : merged) {
    const auto found = known.find(id);
    const bool unused = !record.has_hints && now_s - record.last_seen_s() > settings.unused_s;
    ProfileChange change{.kind = ProfileChange::Kind::kStatus, .id = id, .record = record};
    if (found == known.end()) {
      if (unused) continue;  // the GPUNode of a node that is gone names the job forever
      change.kind = ProfileChange::Kind::kCreate;
      change.record.name = ProfileNameOf(id.second);
    } else if (unused) {
      if (record.runs.empty()) continue;  // the extender wrote nothing into it
      change.kind = ProfileChange::Kind::kRemove;
    } else if (!IsNoticeable(found->second, record, settings)) {
      continue;
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace crossover::extender
