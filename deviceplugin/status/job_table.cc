#include "deviceplugin/status/job_table.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>
#include <utility>

#include "common/base/same_run.h"

namespace crossover::deviceplugin {
namespace {

constexpr double kNoise = 0.02;  // relative to the figure or to the step; a smaller difference is no change
constexpr double kNoiseOfRank = 0.05;  // of a single rank, relative to its compute
constexpr double kAnewS = 10 * 60;     // after this time at_s is published even without a change

double Seconds(turn::Time time) {
  return static_cast<double>(time) / static_cast<double>(base::kNsPerSecond);
}

class Mean {
 public:
  void Add(double value) { sum_ += value, ++count_; }
  std::optional<double> value() const { return count_ == 0 ? std::nullopt : std::optional(sum_ / count_); }

 private:
  double sum_ = 0;
  int count_ = 0;
};

// Returns the function of a call. REQUIRES: the function is one that the arbiter accepts
// (arbiter/client_messages.h).
api::NcclFunction FunctionOf(const crossover_call& call) {
  static_assert(CROSSOVER_ALL_REDUCE == 1 + static_cast<int>(api::NcclFunction::kAllReduce) &&
                CROSSOVER_SCATTER == 1 + static_cast<int>(api::NcclFunction::kScatter));
  return static_cast<api::NcclFunction>(call.function - CROSSOVER_ALL_REDUCE);
}

// Combines the figures of the ranks of one job on this node.
struct Ranks {
  Mean compute, exposed, alone, jitter;
  std::set<std::string> gpus;
  std::vector<GpuNode::Rank> each;
  std::vector<api::NcclCall> calls;
  const arbiter::Member* one = nullptr;
  turn::Time joined = turn::kNever;
  int iterations = api::kMostIterations;
  std::optional<std::uint64_t> memory;
  std::optional<MeasurementSource> source;  // of the rank with the least reliable source
  std::optional<turn::Time> disturbed;

  void Add(const RankView& rank) {
    const JobProfile& learned = rank.learned;
    one = rank.member.get();
    gpus.insert(rank.member->gpu->uuid);
    joined = std::min(joined, rank.joined);
    iterations = static_cast<int>(
        std::min(static_cast<std::uint64_t>(iterations), static_cast<std::uint64_t>(rank.iterations)));
    if (learned.compute) {
      compute.Add(Seconds(learned.compute->value));
      each.push_back({.pod = rank.member->pod,
                      .compute_s = Seconds(learned.compute->value),
                      .wait_s = Seconds(rank.wait.value_or(0)),
                      .number = static_cast<int>(rank.member->rank),
                      .input_s = Seconds(rank.input_wait.value_or(0)),
                      .gpu = rank.member->gpu->uuid});
    }
    AddCalls(rank);
    if (learned.away) exposed.Add(Seconds(learned.away->value));
    if (learned.jitter) jitter.Add(learned.jitter->value);
    if (learned.peak_memory) memory = std::max(memory.value_or(0), learned.peak_memory->value);
    if (learned.disturbed) disturbed = std::max(disturbed.value_or(*learned.disturbed), *learned.disturbed);
    if (!learned.step_alone) return;
    alone.Add(Seconds(learned.step_alone->value));
    source = std::max(source.value_or(learned.step_alone->source), learned.step_alone->source);
  }

  void AddCalls(const RankView& rank) {
    if (rank.calls == nullptr) return;
    for (const crossover_call& call : *rank.calls) {
      const bool has_peer = call.peer != CROSSOVER_NO_PEER;
      calls.push_back({.pod = rank.member->pod,
                       .communicator = call.communicator,
                       .size = static_cast<int>(call.ranks),
                       .rank = static_cast<int>(call.rank),
                       .function = FunctionOf(call),
                       .peer = has_peer ? std::optional(static_cast<int>(call.peer)) : std::nullopt,
                       .bytes = call.bytes});
    }
  }
};

const char* SourceName(MeasurementSource source) {
  if (source == MeasurementSource::kMeasured) return "measured";
  return source == MeasurementSource::kRemembered ? "remembered" : "estimated";
}

// Returns whether the two figures differ by more than `much`. Use it for figures that are part of a larger
// one, or that are mostly noise: relative to their own size, these always change.
template <class T>
bool MovedBy(double much, const std::optional<T>& a, const std::optional<T>& b) {
  if (!a || !b) return a.has_value() != b.has_value();
  return std::abs(static_cast<double>(*b) - static_cast<double>(*a)) > much;
}

template <class T>
bool Moved(const std::optional<T>& a, const std::optional<T>& b) {
  const double most =
      std::max(std::abs(static_cast<double>(a.value_or(0))), std::abs(static_cast<double>(b.value_or(0))));
  return MovedBy(kNoise * most, a, b);
}

bool Moved(const std::vector<GpuNode::Meeting>& a, const std::vector<GpuNode::Meeting>& b) {
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    const auto gang = [](const GpuNode::Meeting::Peer& peer) { return peer.gang; };
    return std::ranges::equal(x.beside, y.beside, {}, gang, gang) &&
           !Moved(std::optional(x.gain), std::optional(y.gain));
  });
}

bool Moved(const std::vector<GpuNode::Rank>& a, const std::vector<GpuNode::Rank>& b) {
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const auto& x, const auto& y) {
    return x.pod == y.pod && x.gpu == y.gpu && x.number == y.number &&
           std::abs(y.compute_s - x.compute_s) <= kNoiseOfRank * x.compute_s &&
           std::abs(y.wait_s - x.wait_s) <= kNoiseOfRank * x.compute_s &&
           std::abs(y.input_s - x.input_s) <= kNoiseOfRank * x.compute_s;
  });
}

bool Moved(const std::vector<api::NcclCall>& a, const std::vector<api::NcclCall>& b) {
  return !std::equal(a.begin(), a.end(), b.begin(), b.end(), [](api::NcclCall x, const api::NcclCall& y) {
    const bool moved = Moved(std::optional(x.bytes), std::optional(y.bytes));
    x.bytes = y.bytes;
    return x == y && !moved;
  });
}

bool HasChanged(const GpuNode::Job& was, const GpuNode::Job& is) {
  const bool same = std::tie(was.key, was.gpus, was.gang_size, was.source, was.ended) ==
                    std::tie(is.key, is.gpus, is.gang_size, is.source, is.ended);
  const bool surer = is.iterations >= 2 * was.iterations && is.iterations != was.iterations;
  const double step_s = is.compute_s.value_or(0) + is.exposed_s.value_or(0);
  return !same || surer || Moved(was.compute_s, is.compute_s) ||
         MovedBy(kNoise * step_s, was.exposed_s, is.exposed_s) || Moved(was.step_alone_s, is.step_alone_s) ||
         MovedBy(kNoise, was.jitter, is.jitter) || Moved(was.peak_memory, is.peak_memory) ||
         Moved(was.ranks, is.ranks) || Moved(was.communication, is.communication) ||
         Moved(was.meetings, is.meetings) || (was.disturbed_s > 0) != (is.disturbed_s > 0) ||
         is.at_s - was.at_s >= kAnewS;
}

double WallOf(turn::Time at, const JobTable::Instant& now) {
  const std::int64_t since_s = (now.monotonic - at) / base::kNsPerSecond;
  return static_cast<double>(now.wall_s - since_s);
}

// Returns whether the ranks belong to a new run of the job with the same name. The figures of the previous
// run are no part of it.
bool IsAnotherAttempt(const Ranks& ranks, const JobTable::Instant& now, const GpuNode::Job& job) {
  return job.ended && WallOf(ranks.joined, now) > job.at_s + base::kSameRunS;
}

auto OrderOf(const GpuNode::Rank& rank) {
  return std::tie(rank.pod, rank.gpu, rank.number, rank.compute_s, rank.wait_s, rank.input_s);
}

void Fill(const Ranks& ranks, const JobTable::Instant& now, GpuNode::Job* job) {
  const bool anew = job->gang.empty();
  job->name_space = ranks.one->name_space;
  job->gang = ranks.one->gang;
  job->gang_size = static_cast<int>(ranks.one->gang_size);
  job->iterations = ranks.iterations;
  if (anew) job->began_s = WallOf(ranks.joined, now);
  job->at_s = static_cast<double>(now.wall_s);
  job->ended = false;
  // A value that the ranks do not know now stays as it was, for example while ranks restart.
  if (const auto value = ranks.compute.value()) {
    job->compute_s = value;
    job->ranks = ranks.each;
    std::ranges::sort(job->ranks, {}, OrderOf);
    if (job->ranks.size() > api::kMostRanksOfJob) job->ranks.resize(api::kMostRanksOfJob);
  }
  if (!ranks.calls.empty() && ranks.calls.size() <= api::kMostCallsOfJob) {
    job->communication = ranks.calls;
    std::ranges::sort(job->communication);
  }
  if (const auto value = ranks.exposed.value()) job->exposed_s = value;
  if (const auto value = ranks.alone.value()) job->step_alone_s = value;
  if (const auto value = ranks.jitter.value()) job->jitter = value;
  if (ranks.memory) job->peak_memory = std::max(job->peak_memory.value_or(0), *ranks.memory);
  if (ranks.source) job->source = SourceName(*ranks.source);
  if (ranks.disturbed) job->disturbed_s = WallOf(*ranks.disturbed, now);
}

// Returns how many GPUs the job has. The ranks of a job do not all end at the same time, so for a while a
// job keeps the number of GPUs that it had.
int GpusOf(const Ranks& ranks, int had, turn::Time now, std::optional<turn::Time>* fewer_since) {
  const auto has = static_cast<int>(ranks.gpus.size());
  if (has >= had) {
    fewer_since->reset();
    return has;
  }
  if (!*fewer_since) *fewer_since = now;
  return now - **fewer_since > base::kSameRunS * base::kNsPerSecond ? has : had;
}

}  // namespace

void JobTable::Look(const std::vector<RankView>& ranks, const std::vector<GpuView>& gpus, const KeyOf& key_of,
                    const Instant& now) {
  LookAtRanks(ranks, key_of, now);
  std::set<std::string> disturbed;
  for (const RankView& rank : ranks) {
    if (rank.disturbed) disturbed.insert(rank.member->gang);
  }
  for (const GpuView& gpu : gpus) {
    const bool quiet = std::none_of(gpu.clients.begin(), gpu.clients.end(), [&](const ClientView& client) {
      return disturbed.contains(client.member->gang);
    });
    if (quiet) LookAtGain(gpu, now);
  }
  for (auto& [job, entry] : entries_) {
    if (GpuNode::Job whole = Whole(entry); HasChanged(entry.shown, whole)) entry.shown = std::move(whole);
  }
  Forget(now.monotonic);
}

void JobTable::LookAtRanks(const std::vector<RankView>& ranks, const KeyOf& key_of, const Instant& now) {
  std::map<JobKey, Ranks> jobs;
  for (const RankView& rank : ranks) {
    if (!rank.member->name_space.empty()) jobs[JobOf(*rank.member)].Add(rank);
  }
  for (auto& [job, entry] : entries_) {
    entry.here = jobs.contains(job);
    if (!entry.here) entry.job.ended = true;
  }
  for (const auto& [job, together] : jobs) {
    Entry& entry = entries_[job];
    if (IsAnotherAttempt(together, now, entry.job)) entry.job = {}, entry.meetings.clear();
    entry.job.gpus = GpusOf(together, entry.job.gpus, now.monotonic, &entry.fewer_since);
    Fill(together, now, &entry.job);
    if (std::string key = key_of(*together.one); !key.empty()) entry.job.key = std::move(key);
    entry.here = true;
    entry.published.reset();
  }
}

// Notes the gain of the jobs on the GPU. Skips a gain that was measured while some clients still learn, or
// beside a client that is only watched: such a gain says nothing about turns. Also skips an uncertain gain,
// because the extender may keep two jobs apart for weeks because of the gain that it reads.
void JobTable::LookAtGain(const GpuView& gpu, const Instant& now) {
  const bool settled = gpu.why_ungated.empty() || gpu.stats.way == turn::Way::kSideBySide;
  if (!gpu.gain || gpu.gain_uncertain() || !settled) return;
  for (const ClientView& client : gpu.clients) NoteMeeting(JobOf(*client.member), gpu, now);
}

void JobTable::NoteMeeting(const JobKey& job, const GpuView& gpu, const Instant& now) {
  const auto found = entries_.find(job);
  if (found == entries_.end()) return;
  std::map<std::string, GpuNode::Meeting::Peer> beside;
  for (const ClientView& client : gpu.clients) {
    const JobKey other = JobOf(*client.member);
    if (other == job) continue;
    const auto peer = entries_.find(other);
    if (peer == entries_.end()) return;  // the client is in no pod
    const GpuNode::Job& known = peer->second.job;
    beside[known.gang] = {known.name_space, known.gang, known.key};
  }
  std::vector<Meeting>& meetings = found->second.meetings;
  const auto same = [&beside](const Meeting& meeting) {
    return std::ranges::equal(
        meeting.beside, beside, {}, [](const auto& entry) { return entry.first; },
        [](const auto& entry) { return entry.first; });
  };
  auto meeting = std::find_if(meetings.begin(), meetings.end(), same);
  if (meeting == meetings.end()) {
    if (meetings.size() >= kMostMeetings)
      meetings.erase(std::ranges::min_element(meetings, {}, &Meeting::at_s));
    meeting = meetings.insert(meetings.end(), Meeting{});
  }
  meeting->beside = std::move(beside);
  meeting->looks = std::min(meeting->looks + 1, kMostLooks);
  meeting->gain += (*gpu.gain - meeting->gain) / meeting->looks;
  meeting->at_s = now.wall_s;
}

GpuNode::Job JobTable::Whole(const Entry& entry) {
  GpuNode::Job job = entry.job;
  for (const Meeting& meeting : entry.meetings) {
    if (meeting.looks < kLeastLooks) continue;
    GpuNode::Meeting& said = job.meetings.emplace_back();
    for (const auto& [gang, peer] : meeting.beside) said.beside.push_back(peer);
    said.gain = meeting.gain;
    said.at_s = static_cast<double>(meeting.at_s);
  }
  return job;
}

std::vector<GpuNode::Job> JobTable::Jobs() const {
  std::vector<GpuNode::Job> jobs;
  for (const auto& [job, entry] : entries_) jobs.push_back(entry.shown);
  std::ranges::stable_sort(jobs, [](const GpuNode::Job& a, const GpuNode::Job& b) {
    return std::tie(a.name_space, a.gang) < std::tie(b.name_space, b.gang);
  });
  return jobs;
}

void JobTable::NotePublished(turn::Time now) {
  for (auto& [job, entry] : entries_) {
    if (entry.shown.ended && !entry.published) entry.published = now;
  }
}

void JobTable::Forget(turn::Time now) {
  std::erase_if(entries_, [now](const auto& entry) {
    return entry.second.published && now - *entry.second.published > kStays;
  });
  std::vector<std::pair<double, JobKey>> ended;
  for (const auto& [job, entry] : entries_) {
    if (!entry.here) ended.emplace_back(entry.job.at_s, job);
  }
  if (ended.size() <= kMostEnded) return;
  std::sort(ended.begin(), ended.end());
  for (std::size_t i = 0; i < ended.size() - kMostEnded; ++i) entries_.erase(ended[i].second);
}

}  // namespace crossover::deviceplugin
