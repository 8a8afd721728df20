// What this node's jobs need and gained, as it is published: means over their ranks here, and for a while
// after they have ended. Pure: it is told what the books say, and when. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "deviceplugin/books/views.h"
#include "deviceplugin/publish/gpu_node.h"

namespace crossover::deviceplugin {

class JobTable {
 public:
  // A job that has ended stays until it has been published, and for so long after: whoever gathers profiles
  // may be away for a quarter of an hour and misses nothing. It is forgotten when the daemon ends.
  static constexpr turn::Time kStays = 15 * 60 * base::kNsPerSecond;
  static constexpr std::size_t kMostEnded = 64;    // the oldest go first
  static constexpr std::size_t kMostMeetings = 8;  // of a job; the oldest go first
  static constexpr int kLeastLooks = 10;           // at a meeting before its gain is said
  static constexpr int kMostLooks = 120;           // over which it is a mean

  struct Instant {
    turn::Time monotonic = 0;
    std::int64_t wall_s = 0;  // since 1970
  };
  using KeyOf = std::function<std::string(const arbiter::Member& member)>;

  // To be called twice a second or so. `key_of`: the profile key of a client's pod. Clients that belong to no
  // pod are left out.
  void Look(const std::vector<RankView>& ranks, const std::vector<GpuView>& gpus, const KeyOf& key_of,
            const Instant& now);
  // By namespace and gang. What has hardly changed stays as it was said last, so that nobody is told of
  // noise.
  std::vector<GpuNode::Job> Jobs() const;
  // What Jobs() said last is published.
  void NotePublished(turn::Time now);

 private:
  struct Meeting {
    std::map<std::string, GpuNode::Peer> beside;  // by gang
    double gain = 0;                              // the mean over the last looks
    int looks = 0;
    std::int64_t at_s = 0;
  };
  struct Entry {
    GpuNode::Job job;    // as of now, but for its meetings
    GpuNode::Job shown;  // as it was said last
    std::vector<Meeting> meetings;
    bool here = false;
    std::optional<turn::Time> fewer_since;  // GPUs than the job is said to have
    std::optional<turn::Time> published;    // that it has
  };

  void LookAtRanks(const std::vector<RankView>& ranks, const KeyOf& key_of, const Instant& now);
  void LookAtGain(const GpuView& gpu, const Instant& now);
  void NoteMeeting(const JobKey& job, const GpuView& gpu, const Instant& now);
  void Forget(turn::Time now);
  static GpuNode::Job Whole(const Entry& entry);

  std::map<JobKey, Entry> entries_;
};

}  // namespace crossover::deviceplugin
