#include "extender/profiles/merge.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/same_run.h"

namespace crossover::extender {
namespace {

using base::kSameRunS;
constexpr double kSameMeetingS = 3600;  // between two reports of one meeting
using Jobs = std::vector<const GpuNode::Job*>;

// Returns whether `job` is a new attempt: it began after every node saw the run end.
bool BeganAfter(const Jobs& run, const GpuNode::Job& job) {
  return std::ranges::all_of(
      run, [&job](const GpuNode::Job* before) { return before->ended && before->at_s < job.began_s; });
}

// Returns the runs of each gang. A run is what several nodes saw of the gang at about the same time.
std::map<ProfileId, std::vector<Jobs>> RunsOf(std::span<const GpuNode::Job> jobs) {
  std::map<ProfileId, Jobs> by_gang;
  for (const GpuNode::Job& job : jobs) by_gang[{job.name_space, job.gang}].push_back(&job);
  std::map<ProfileId, std::vector<Jobs>> runs;
  for (auto& [gang, seen] : by_gang) {
    std::ranges::stable_sort(seen, {}, &GpuNode::Job::began_s);
    double last_s = 0;
    for (const GpuNode::Job* job : seen) {
      std::vector<Jobs>& so_far = runs[gang];
      if (so_far.empty() || job->began_s > last_s + kSameRunS || BeganAfter(so_far.back(), *job))
        so_far.emplace_back();
      so_far.back().push_back(job);
      last_s = std::max(last_s, job->at_s);
    }
  }
  return runs;
}

// Returns `jobs` with no time after `now_s`. A node whose clock is ahead would make all other nodes'
// figures look old.
std::vector<GpuNode::Job> UntilNow(std::span<const GpuNode::Job> jobs, double now_s) {
  std::vector<GpuNode::Job> until(jobs.begin(), jobs.end());
  for (GpuNode::Job& job : until) {
    job.began_s = std::min(job.began_s, now_s);
    job.at_s = std::min(job.at_s, now_s);
    for (GpuNode::Meeting& meeting : job.meetings) meeting.at_s = std::min(meeting.at_s, now_s);
  }
  return until;
}

std::string KeyOf(const Jobs& run) {
  std::string key;
  for (const GpuNode::Job* job : run) {
    if (key.empty() || (!job->key.empty() && job->key < key)) key = job->key;
  }
  return key;
}

// Returns whether the run left this node and went on at another one.
bool HasMoved(const GpuNode::Job& job, const Jobs& run) {
  return job.ended &&
         std::ranges::any_of(run, [&job](const GpuNode::Job* other) { return other->began_s > job.at_s; });
}

// Sets the longest wait for input, and the median and the slowest of the ranks that the nodes know, if there
// are two or more. The times of what has moved are those of another place. PutRun() keeps since when the rank
// is slow.
void Compare(const Jobs& nodes, ProfileRun* run) {
  std::vector<double> all;
  for (const GpuNode::Job* job : nodes) {
    if (HasMoved(*job, nodes)) continue;
    for (const GpuNode::Rank& rank : job->ranks) {
      all.push_back(rank.compute_s);
      if (rank.input_s > run->input.seconds)
        run->input = {.pod = rank.pod, .node = job->node, .seconds = rank.input_s};
      if (rank.compute_s > run->slowest.compute_s)
        run->slowest = {.pod = rank.pod, .node = job->node, .compute_s = rank.compute_s, .since_s = 0};
    }
  }
  if (all.size() < 2) {
    run->slowest = {};
    return;
  }
  // The median of an even number of times is the lower one of the two in the middle. Otherwise the slow one
  // of two ranks would be its own measure.
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>((all.size() - 1) / 2);
  std::nth_element(all.begin(), middle, all.end());
  run->median_s = *middle;
  if (run->slowest.compute_s >= JobProfile::kSlow * run->median_s) run->slowest.since_s = run->at_s;
}

ProfileRun Together(const Jobs& nodes) {
  ProfileRun run{.gang = nodes.front()->gang, .began_s = nodes.front()->began_s};
  run.iterations = nodes.front()->iterations;
  double ranks = 0;
  for (const GpuNode::Job* job : nodes) {
    if (!HasMoved(*job, nodes)) {
      run.gpus += job->gpus;
      ++run.nodes;
    }
    run.at_s = std::max(run.at_s, job->at_s);
    run.iterations = std::min(run.iterations, job->iterations);
    run.estimated |= job->estimated();
    run.disturbed |= job->disturbed_s > 0;
    if (!job->meetings.empty()) run.shared = true;
    run.peak_memory = std::max(run.peak_memory, job->peak_memory.value_or(0));
    if (job->compute_s.value_or(0) <= 0) continue;
    const double here = std::max(job->gpus, 1);
    ranks += here;
    run.compute_s += (*job->compute_s - run.compute_s) * here / ranks;
    run.exposed_s += (job->exposed_s.value_or(0) - run.exposed_s) * here / ranks;
    run.jitter += (job->jitter.value_or(0) - run.jitter) * here / ranks;
  }
  Compare(nodes, &run);
  return run;
}

bool IsSame(const ProfileRun& a, const ProfileRun& b) {
  return a.gang == b.gang && a.began_s <= b.at_s + kSameRunS && b.began_s <= a.at_s + kSameRunS;
}

// Returns since when the slowest rank of `run` is slow, or 0. `before` is what was known of the same run. A
// rank that was slow counts as slow until it is nearer to the median by some noise.
double SlowSince(const JobProfile::Slowest& before, const ProfileRun& run) {
  constexpr double kStillSlow = (1 + JobProfile::kSlow) / 2;
  const JobProfile::Slowest& now = run.slowest;
  const bool same = before.since_s > 0 && before.pod == now.pod && before.node == now.node;
  return same && now.compute_s >= kStillSlow * run.median_s ? before.since_s : now.since_s;
}

void PutRun(const ProfileRun& run, ProfileRecord* record) {
  const auto known = std::ranges::find_if(record->runs, [&](const ProfileRun& r) { return IsSame(r, run); });
  if (known == record->runs.end()) {
    record->runs.push_back(run);
  } else if (run.at_s > known->at_s || (run.at_s == known->at_s && run.gpus >= known->gpus)) {
    const ProfileRun before = std::exchange(*known, run);
    known->began_s = std::min(before.began_s, run.began_s);
    known->peak_memory = std::max(before.peak_memory, run.peak_memory);
    if (before.shared.value_or(false)) known->shared = true;
    known->slowest.since_s = SlowSince(before.slowest, *known);
    known->uplink_s = before.uplink_s;  // TimeUplinks() sets them anew
    known->least_uplink_s = before.least_uplink_s;
    if (run.compute_s <= 0) {  // the node has begun to learn again
      known->compute_s = before.compute_s;
      known->exposed_s = before.exposed_s;
      known->jitter = before.jitter;
      known->median_s = before.median_s;
      known->slowest = before.slowest;
      known->input = before.input;
    }
  }
  std::ranges::stable_sort(record->runs, {}, &ProfileRun::at_s);
  if (record->runs.size() > kMostRuns)
    record->runs.erase(record->runs.begin(), record->runs.end() - kMostRuns);
}

void PutGain(const ProfileId& other, const ProfileGain& gain, ProfileRecord* record) {
  auto meeting = std::ranges::find_if(record->meetings, [&other](const ProfileMeeting& m) {
    return m.name_space == other.first && m.key == other.second;
  });
  if (meeting == record->meetings.end()) {
    record->meetings.push_back({other.first, other.second, {}});
    meeting = record->meetings.end() - 1;
  }
  const auto known = std::ranges::find_if(meeting->gains, [&gain](const ProfileGain& g) {
    return g.gang == gain.gang && g.other == gain.other && std::abs(g.at_s - gain.at_s) < kSameMeetingS;
  });
  if (known == meeting->gains.end()) {
    meeting->gains.push_back(gain);
  } else if (gain.at_s >= known->at_s) {
    *known = gain;
  }
  std::ranges::stable_sort(meeting->gains, {}, &ProfileGain::at_s);
  if (meeting->gains.size() > kMostGains) meeting->gains.erase(meeting->gains.begin());
}

// Adds what the nodes of a run report about each other gang that shared GPUs with it.
void PutGains(const Jobs& nodes, ProfileRecord* record) {
  struct Sum {
    ProfileGain gain;
    double gpus = 0;
  };
  std::map<std::tuple<std::string, std::string, std::string>, Sum> sums;  // namespace, key, gang
  for (const GpuNode::Job* job : nodes) {
    for (const GpuNode::Meeting& meeting : job->meetings) {
      if (meeting.beside.size() != 1 || meeting.beside[0].key.empty()) continue;
      const GpuNode::Meeting::Peer& peer = meeting.beside[0];
      Sum& sum = sums[{peer.name_space, peer.key, peer.gang}];
      const double here = std::max(job->gpus, 1);
      sum.gpus += here;
      sum.gain.gang = job->gang;
      sum.gain.other = peer.gang;
      sum.gain.gain += (meeting.gain - sum.gain.gain) * here / sum.gpus;
      sum.gain.at_s = std::max(sum.gain.at_s, meeting.at_s);
    }
  }
  for (const auto& [peer, sum] : sums) PutGain({std::get<0>(peer), std::get<1>(peer)}, sum.gain, record);
}

// A RunCalls is a run of a record, and what it calls.
struct RunCalls {
  ProfileRun run;
  JoinedCalls calls;
  std::vector<std::string> nodes;  // of the pods of `calls`
  std::vector<double> compute_s;   // of these pods; empty: it is not known of all
  std::vector<double> speeds;      // of their GPUs, as SpeedsOfPods() returns them
  ProfileRecord* record;
};

// Returns the nodes of these pods of a run. A pod is on the node that told of it last.
std::vector<std::string> NodesOf(const std::vector<std::string>& pods, const Jobs& nodes) {
  std::map<std::string, const GpuNode::Job*> on;  // by pod
  for (const GpuNode::Job* job : nodes) {
    for (const NcclCall& call : job->communication) {
      const GpuNode::Job*& known = on[call.pod];
      if (known == nullptr || known->at_s < job->at_s) known = job;
    }
  }
  std::vector<std::string> of_pods;
  for (const std::string& pod : pods) of_pods.push_back(on.at(pod)->node);
  return of_pods;
}

// Returns where the pods are, or nothing if the place of one of them is not known.
std::optional<std::vector<placement::SeatPlace>> SeatsOf(const RunCalls& run, const NodePlaces& places) {
  std::vector<placement::SeatPlace> seats;
  for (std::size_t pod = 0; pod < run.nodes.size(); ++pod) {
    const auto place = places.find(run.nodes[pod]);
    if (place == places.end()) return std::nullopt;
    seats.push_back(place->second);
    seats.back().speed = run.speeds[pod];
  }
  return seats;
}

// Sets the times of the uplinks of a run of `each.record`, if runs agree on what its pods call.
void TimeUplinks(const RunCalls& each, const NodePlaces& places, ProfileRun* run) {
  const Communication& known = each.record->communication;
  auto seats = SeatsOf(each, places);
  if (known.runs < kRunsThatAgree || known.pods != each.calls.pods() || !seats) return;
  PlacedRun& placed = each.record->placed[run->gang];
  if (placed.seats != *seats || placed.groups != known.groups || placed.compute_s != known.compute_s)
    placed = {*seats, known.groups, known.compute_s, UplinkTimesOf(known, *std::move(seats))};
  const UplinkTimes times = placed.times.value_or(UplinkTimes{});
  run->uplink_s = times.now_s;
  run->least_uplink_s = times.least_s;
}

// Returns the nodes that the run has not left.
Jobs Present(const Jobs& nodes) {
  Jobs present;
  std::ranges::copy_if(nodes, std::back_inserter(present),
                       [&nodes](const GpuNode::Job* job) { return !HasMoved(*job, nodes); });
  return present;
}

// Returns the calls of a run, joined from what its nodes report.
JoinedCalls JoinCallsOf(const Jobs& present, const PodOrder& order) {
  std::vector<const NcclCall*> calls;
  for (const GpuNode::Job* job : present) {
    for (const NcclCall& call : job->communication) calls.push_back(&call);
  }
  return JoinCalls(calls, present.empty() ? "" : present.front()->name_space, order);
}

// Counts the runs in the order in which they began: a run does not count after a later one. Sets the times of
// their uplinks.
void CountRuns(std::vector<RunCalls> all, const NodePlaces& places) {
  std::ranges::stable_sort(all, {}, [](const RunCalls& each) { return each.run.began_s; });
  for (const RunCalls& each : all) {
    // The record knows when the run began, even if the node that saw that has forgotten it.
    const auto same = [&each](const ProfileRun& run) { return IsSame(run, each.run); };
    const auto known = std::ranges::find_if(each.record->runs, same);
    if (known == each.record->runs.end()) continue;
    CountRun(each.calls, *known, &each.record->communication);
    KeepCompute(each.compute_s, *known, &each.record->communication);
    TimeUplinks(each, places, &*known);
  }
}

void Forget(double now_s, const ProfileSettings& settings, ProfileRecord* record) {
  for (ProfileMeeting& meeting : record->meetings) {
    std::erase_if(meeting.gains,
                  [&](const ProfileGain& gain) { return now_s - gain.at_s > settings.forget_s; });
  }
  std::erase_if(record->meetings, [](const ProfileMeeting& meeting) { return meeting.gains.empty(); });
  if (record->meetings.size() <= kMostMeetings) return;
  std::ranges::stable_sort(record->meetings, std::greater(),
                           [](const ProfileMeeting& meeting) { return meeting.gains.back().at_s; });
  record->meetings.resize(kMostMeetings);
}

}  // namespace

ProfileRecords Merge(ProfileRecords known, std::span<const GpuNode::Job> jobs, double now_s,
                     const ProfileSettings& settings, const PodOrder& order, const NodePlaces& places) {
  const std::vector<GpuNode::Job> seen = UntilNow(jobs, now_s);
  std::vector<RunCalls> calls;
  const std::map<ProfileId, std::vector<Jobs>> runs_of = RunsOf(seen);
  for (const auto& [gang, runs] : runs_of) {
    for (const Jobs& run : runs) {
      const std::string key = KeyOf(run);
      if (key.empty()) continue;
      ProfileRecord& record = known[{gang.first, key}];
      const ProfileRun together = Together(run);
      PutRun(together, &record);
      PutGains(run, &record);
      const Jobs present = Present(run);
      JoinedCalls joined = JoinCallsOf(present, order);
      std::vector<std::string> nodes = NodesOf(joined.names, run);
      std::vector<double> compute_s = ComputeOfPods(joined.names, present, settings.gpu_speeds);
      std::vector<double> speeds = SpeedsOfPods(joined.names, present, settings.gpu_speeds);
      calls.push_back(
          {together, std::move(joined), std::move(nodes), std::move(compute_s), std::move(speeds), &record});
    }
  }
  CountRuns(std::move(calls), places);
  for (auto& [id, record] : known) {
    Forget(now_s, settings, &record);
    const std::string& name_space = id.first;
    std::erase_if(record.placed, [&](const auto& placed) {
      return !runs_of.contains({name_space, placed.first});
    });
  }
  return known;
}

void Join(const ProfileRecord& other, ProfileRecord* record) {
  for (const ProfileRun& run : other.runs) PutRun(run, record);
  for (const ProfileMeeting& meeting : other.meetings) {
    for (const ProfileGain& gain : meeting.gains) PutGain({meeting.name_space, meeting.key}, gain, record);
  }
  if (other.communication.began_s > record->communication.began_s)
    record->communication = other.communication;
}

}  // namespace crossover::extender
