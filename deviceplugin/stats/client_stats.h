// Keeps the clients of each GPU, their last turns and iterations, and what sharing costs and gains. The
// caller passes it the arbiter's events, in order.
//
//   gpus_       GPU's UUID --> statistics, the last turns that ended
//                              clients: Member::id --> its last waits, holds and steps; step alone; profile
//   jobs_       job        --> whole iterations of its ranks here, while it has clients
//   memories_   job        --> profile, from clients that have left and from LoadProfile()
//   unheard_    processes on the GPUs that are not registered
//
// Pure: the caller passes the times, and a function that reads the words of the page. Not thread-safe. Its
// size is bounded, whatever clients do.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/plain_reason.h"
#include "common/base/shrink_level.h"
#include "deviceplugin/profiles/job_profile.h"
#include "deviceplugin/stats/recent.h"
#include "deviceplugin/stats/snapshots.h"
#include "deviceplugin/stats/whole_job.h"

namespace crossover::deviceplugin {

class ClientStats {
 public:
  static constexpr std::size_t kTurnsKept = 2048;  // turns of each GPU
  // At this number, GPUs without clients are dropped. arbiter::Limits bounds those with clients.
  static constexpr std::size_t kMostGpus = 256;
  static constexpr std::size_t kMostLeft = 256;
  static constexpr std::size_t kMostMemories = 4096;  // beyond this number, the oldest are dropped

  using ReadSlot = std::function<SlotSnapshot(const arbiter::Member& member)>;

  void OnEvent(const arbiter::Event& event);
  void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats);
  // Stores the profile of a job that an earlier daemon has written.
  void LoadProfile(const JobProfile& profile);
  // Notes how many bytes a client has allocated on its GPU. The largest value counts.
  void NoteMemory(const arbiter::Member& member, std::uint64_t bytes, turn::Time now,
                  MeasurementSource source = MeasurementSource::kNvml);
  // Replaces the set of processes that are not registered (snapshots.h). It learns no timings of
  // clients beside them. It drops the timings that such a client has learned since the last call, because the
  // process may have come at any time since. It marks jobs beside processes in `found_out` and `gangs` as
  // disturbed.
  void NoteUnregistered(UnregisteredProcesses unregistered, turn::Time now);

  std::vector<GpuView> Gpus(turn::Time now, const ReadSlot& read) const;  // by UUID
  // Returns the profile of a job, from its present clients and from earlier ones. Returns nothing if nothing
  // has been learned of the job yet.
  std::optional<JobProfile> Profile(const JobKey& job) const;
  bool Here(const JobKey& job) const;  // the job has clients
  std::vector<std::shared_ptr<const arbiter::Member>> Members() const;
  std::vector<RankView> Ranks() const;
  // Returns what clients have said of their reductions, or NotePlain() of them.
  std::vector<ReductionsView> Reductions() const;
  // Notes that reductions of a client are plain, for a reason that the client does not give itself. What it
  // has said stays, and what it says later counts.
  void NotePlain(const arbiter::Member& member, base::ShrinkLevel asked, base::PlainReason reason);
  // Returns the same of clients that have left since the last call, the last kMostLeft of them.
  std::vector<ReductionsView> TakeReductionsOfLeft() { return std::exchange(left_, {}); }
  // Returns the turns that had not ended before `since`, of one GPU, or of all GPUs if `uuid` is empty. The
  // turns of each GPU are in the order in which they ended, followed by those that still last.
  std::vector<TurnView> Turns(const std::string& uuid, turn::Time since) const;

 private:
  struct Client {
    std::shared_ptr<const arbiter::Member> member;
    turn::Time joined = 0;
    turn::Time asked = 0;   // 0: it does not wait
    turn::Time held = 0;    // 0: it does not hold
    turn::Time waited = 0;  // how long it waited before the present turn
    std::uint64_t turns = 0;
    std::uint64_t iterations = 0;  // undisturbed iterations
    RecentDurations waits;
    RecentDurations holds;
    RecentSteps steps;
    std::optional<turn::Time> step_before;  // step before the last change of `shares`
    turn::Time company_since = 0;           // when it last began to share, or to be alone
    bool shares = false;
    bool disturbed = false;  // a process that is not registered is on a GPU of its gang
    bool learned = false;
    bool offender = false;
    bool cap_refused = false;
    std::optional<StepAlone> alone;  // here, its `age` is the time of the last iteration, not an age
    JobProfile profile;              // all figures but the step alone
    std::shared_ptr<const arbiter::CallList> calls;          // null: it has sent none
    std::shared_ptr<const crossover_reductions> reductions;  // null: it has said nothing of them
    // These two are copies of `alone` and `profile`, from the last look that found no unregistered process
    // beside the client.
    std::optional<StepAlone> committed_alone;
    JobProfile committed_profile;
  };
  struct Gpu {
    std::map<std::uint64_t, Client> clients;  // by Member::id
    std::deque<TurnView> turns;
    turn::Stats stats;
    turn::Time gated = 0;        // total time with turns, ns, without the present period of turns
    turn::Time gated_since = 0;  // when the present period of turns began; 0: there are no turns now
  };
  void Join(const arbiter::Event& event);
  void Leave(const arbiter::Event& event);
  static void EndTurn(Gpu* gpu, Client* client, turn::Time now);
  void NoteWhole(const Client& client, const arbiter::Event& event);
  void NoteMeasured(Client* client, const arbiter::Event& event);
  std::optional<StepAlone> AloneOf(const Client& client) const;
  void NoteTurn(Gpu* gpu, Client* client, const arbiter::Event& event);
  void NoteStep(Client* client, const arbiter::Event& event);
  void NoteMode(Gpu* gpu, const arbiter::Event& event);
  void NoteCompany(turn::Time now);
  void AddGangsOn(const std::string& uuid, std::set<std::string>* gangs) const;
  std::set<std::string> DisturbedGangs() const;
  static void LearnFrom(const arbiter::Event& event, Client* client);
  static void Commit(Client* client);
  static void Rollback(Client* client);
  void Remember(const Client& client);
  void Forget();  // drops the oldest beyond kMostMemories
  JobProfile LearnedBy(const Client& client) const;
  ClientView View(const Client& client, turn::Time now, const SlotSnapshot& slot) const;

  std::map<std::string, Gpu> gpus_;
  std::vector<ReductionsView> left_;
  std::map<JobKey, WholeJob> jobs_;  // of jobs with clients
  UnregisteredProcesses unregistered_;
  std::map<JobKey, JobProfile> memories_;  // of jobs that have left, and of present jobs from before
};

// WhyUngated() returns one of these if no client is the cause.
inline constexpr char kAloneOnItsGpu[] = "alone on its GPU";
inline constexpr char kDaemonObserves[] = "the daemon's mode is observe";
// Returns in one line why `clients` take no turns, or an empty string if they do.
std::string WhyUngated(const std::vector<ClientView>& clients, const turn::Stats& stats);

}  // namespace crossover::deviceplugin
