// The books themselves: who is on each GPU, what their last turns and iterations were like, what sharing
// costs and gains. Fed with the arbiter's events, in order.
//
// Pure: times come in with events and questions, words of the page through a function. Not thread-safe.
// Bounded, whatever clients do.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "deviceplugin/books/recent.h"
#include "deviceplugin/books/views.h"
#include "deviceplugin/books/whole_job.h"
#include "deviceplugin/profiles/job_profile.h"

namespace crossover::deviceplugin {

class Ledger {
 public:
  static constexpr std::size_t kTurnsKept = 2048;     // of each GPU
  static constexpr std::size_t kMostGpus = 256;       // those without clients go first
  static constexpr std::size_t kMostMemories = 4096;  // the oldest go first

  using ReadWords = std::function<Words(const arbiter::Member& member)>;

  void OnEvent(const arbiter::Event& event);
  void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats);
  // What an earlier daemon knew of a job.
  void Teach(const JobProfile& profile);
  // What a client has allocated on its GPU: the most of it counts.
  void NoteMemory(const arbiter::Member& member, std::uint64_t bytes, turn::Time now,
                  FigureSource source = FigureSource::kNvml);
  // In place of what was told before. Nothing is learned beside such processes, and what was learned since
  // the last call, when they may have come, is forgotten; jobs beside those that were found out are marked.
  void NoteUnheard(Unheard unheard, turn::Time now);

  std::vector<GpuView> Gpus(turn::Time now, const ReadWords& read) const;  // by UUID
  // What is known of a job, by its clients here or from before; nothing of one that showed nothing yet.
  std::optional<JobProfile> Profile(const JobKey& job) const;
  bool Here(const JobKey& job) const;  // it has clients
  std::vector<std::shared_ptr<const arbiter::Member>> Members() const;
  std::vector<RankView> Ranks() const;
  // Turns that had not ended before `since`, on one GPU (all, if `uuid` is empty), each GPU's in order of
  // their beginning. Those that last stand last.
  std::vector<TurnView> Turns(const std::string& uuid, turn::Time since) const;

 private:
  struct Client {
    std::shared_ptr<const arbiter::Member> member;
    turn::Time joined = 0;
    turn::Time asked = 0;   // 0: does not wait
    turn::Time held = 0;    // 0: does not hold
    turn::Time waited = 0;  // before the present turn
    std::uint64_t turns = 0;
    std::uint64_t iterations = 0;  // undisturbed
    RecentDurations waits;
    RecentDurations holds;
    RecentSteps steps;
    std::optional<turn::Time> step_before;  // in the company before this one
    turn::Time company_since = 0;           // when it last came to share, or to be alone
    bool shares = false;
    bool disturbed = false;  // by somebody unheard
    bool learned = false;
    bool offender = false;
    bool cap_refused = false;
    std::optional<StepAlone> alone;  // its `age` stands for the instant of the last iteration
    JobProfile profile;              // but for the step alone
    // What had been learned at the last look at which nobody unheard was beside it.
    std::optional<StepAlone> vouched_alone;
    JobProfile vouched_profile;
  };
  struct Gpu {
    std::map<std::uint64_t, Client> clients;  // by the member's id
    std::deque<TurnView> turns;
    turn::Stats stats;
    turn::Time gated = 0;        // before gated_since
    turn::Time gated_since = 0;  // 0: no turns are taken
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
  static void Vouch(Client* client);
  static void Unlearn(Client* client);
  void Remember(const Client& client);
  void Forget();  // what is too much
  JobProfile LearnedBy(const Client& client) const;
  ClientView View(const Client& client, turn::Time now, const Words& words) const;

  std::map<std::string, Gpu> gpus_;
  std::map<JobKey, WholeJob> jobs_;  // that have clients
  Unheard unheard_;
  std::map<JobKey, JobProfile> memories_;  // of jobs that have left, and of what those here were before
};

// What WhyUngated says where nothing is wrong with any client.
inline constexpr char kAloneOnItsGpu[] = "alone on its GPU";
inline constexpr char kDaemonObserves[] = "the daemon's mode is observe";
// Why no turns are taken among `clients`, in one line; empty where they are.
std::string WhyUngated(const std::vector<ClientView>& clients, const turn::Stats& stats);

}  // namespace crossover::deviceplugin
