// Computes the published figures of this node's jobs: what they need and what they gain. The figures are
// means over the ranks on this node. They stay for a while after a job has ended. Pure: the caller passes
// the views of StatsStore and the time. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/stats/snapshots.h"
#include "deviceplugin/status/gpu_node.h"

namespace crossover::deviceplugin {

class JobTable {
 public:
  // An ended job stays until it has been published, and this long afterwards, in ns. So the extender, which
  // collects profiles, can be away for a quarter of an hour without a loss. The table is lost when the daemon
  // ends.
  static constexpr turn::Time kStays = 15 * 60 * base::kNsPerSecond;
  static constexpr std::size_t kMostEnded = 64;    // the oldest are removed first
  static constexpr std::size_t kMostMeetings = 8;  // per job; the oldest are removed first
  static constexpr int kLeastLooks = 10;           // looks at a meeting before its gain is published
  static constexpr int kMostLooks = 120;           // looks over which the gain is averaged

  struct Instant {
    turn::Time monotonic = 0;
    std::int64_t wall_s = 0;  // seconds since 1970
  };
  using KeyOf = std::function<std::string(const arbiter::Member& member)>;

  // Updates the table. REQUIRES: it is called about twice a second. `key_of` returns the profile key of a
  // client's pod. Clients that are in no pod are left out.
  void Look(const std::vector<RankView>& ranks, const std::vector<GpuView>& gpus, const KeyOf& key_of,
            const Instant& now);
  // Returns the jobs, sorted by namespace and gang. A job that has hardly changed keeps its previous
  // figures, so that noise is not published.
  std::vector<GpuNode::Job> Jobs() const;
  // Notes that the last result of Jobs() is published.
  void NotePublished(turn::Time now);

 private:
  struct Meeting {
    std::map<std::string, GpuNode::Meeting::Peer> beside;  // by gang
    double gain = 0;                                       // mean over the last looks
    int looks = 0;
    std::int64_t at_s = 0;
  };
  struct Entry {
    GpuNode::Job job;    // current values, without meetings
    GpuNode::Job shown;  // values as Jobs() returns them
    std::vector<Meeting> meetings;
    bool here = false;
    std::optional<turn::Time> fewer_since;  // when the job began to have fewer GPUs than `job.gpus`
    std::optional<turn::Time> published;    // when the end of the job was published
  };

  void LookAtRanks(const std::vector<RankView>& ranks, const KeyOf& key_of, const Instant& now);
  void LookAtGain(const GpuView& gpu, const Instant& now);
  void NoteMeeting(const JobKey& job, const GpuView& gpu, const Instant& now);
  void Forget(turn::Time now);
  static GpuNode::Job Whole(const Entry& entry);

  std::map<JobKey, Entry> entries_;
};

}  // namespace crossover::deviceplugin
