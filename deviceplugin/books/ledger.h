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
#include <string>
#include <tuple>
#include <vector>

#include "deviceplugin/books/recent.h"
#include "deviceplugin/books/views.h"

namespace crossover::deviceplugin {

class Ledger {
 public:
  static constexpr std::size_t kTurnsKept = 4096;  // of each GPU
  static constexpr std::size_t kMostGpus = 256;    // those without clients go first
  static constexpr std::size_t kMostMemories = 256;

  using ReadWords = std::function<Words(const arbiter::Member& member)>;

  void OnEvent(const arbiter::Event& event);
  void OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats);

  std::vector<GpuView> Gpus(turn::Time now, const ReadWords& read) const;  // by UUID
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
    RecentDurations waits;
    RecentDurations holds;
    RecentSteps steps;
    std::optional<turn::Time> step_before;  // in the company before this one
    turn::Time company_since = 0;           // when it last came to share, or to be alone
    bool shares = false;
    bool learned = false;
    bool offender = false;
    bool cap_refused = false;
    std::optional<StepAlone> alone;  // its `age` stands for the instant of the last iteration
  };
  struct Gpu {
    std::map<std::uint64_t, Client> clients;  // by the member's id
    std::deque<TurnView> turns;
    turn::Stats stats;
    turn::Time gated = 0;        // before gated_since
    turn::Time gated_since = 0;  // 0: no turns are taken
  };
  using Job = std::tuple<std::string, std::uint32_t, std::uint32_t>;  // gang, user, size
  static Job JobOf(const arbiter::Member& member) { return {member.gang, member.uid, member.gang_size}; }

  void Join(const arbiter::Event& event);
  void Leave(const arbiter::Event& event);
  void NoteTurn(Gpu* gpu, Client* client, const arbiter::Event& event);
  void NoteStep(Client* client, const arbiter::Event& event);
  void NoteMode(Gpu* gpu, const arbiter::Event& event);
  void NoteCompany(turn::Time now);
  void Remember(const Client& client);
  ClientView View(const Client& client, turn::Time now, const Words& words) const;

  std::map<std::string, Gpu> gpus_;
  std::map<Job, StepAlone> memories_;
};

// Why no turns are taken among `clients`, in one line; empty where they are.
std::string WhyUngated(const std::vector<ClientView>& clients, const turn::Stats& stats);

}  // namespace crossover::deviceplugin
