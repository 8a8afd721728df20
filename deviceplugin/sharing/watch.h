// Tracks once a second how the GPUs are shared: whether the MPS control daemon runs, whether MPS takes new
// clients, which user it serves, and which of its clients must be terminated. Runs on a thread of its own.
// Thread-safe.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/threads/periodic_task.h"
#include "deviceplugin/mps/client_drain.h"
#include "deviceplugin/mps/control.h"
#include "deviceplugin/mps/health.h"
#include "deviceplugin/mps/losses.h"
#include "deviceplugin/sharing/strategy.h"

namespace crossover::deviceplugin {

class SharingWatch {
 public:
  struct State {
    SharingStrategy strategy;
    MpsControl::State mps;
    std::optional<uid_t> served;  // user of the MPS server, if there is exactly one server
    std::set<pid_t> servers;      // process IDs of the MPS servers
    bool asked = false;           // the watch has asked for the servers at least once, answered or not
    std::string fault{};          // why MPS takes no new clients, if the GPUs are shared through it; else ""
    // Why its control daemon, which runs, cannot be asked; `fault` then keeps its value.
    std::string unasked{};
    std::uint64_t terminated = 0;  // clients terminated through MPS
    std::uint64_t losses = 0;      // servers that ended unexpectedly (MpsLosses)
    pid_t lost_server = 0;         // process ID of the last such server
  };

  // Chooses the strategy before it returns. Looks at MPS's servers at once, and then each `period`. `pods`
  // returns the pods of the node; it is called on the watch's thread. `cgroup_root` is the kubelet's
  // (cgroup.h).
  SharingWatch(MpsControl::Settings mps, Sharing wanted, std::function<std::vector<Pod>()> pods,
               std::string cgroup_root, std::chrono::milliseconds period = std::chrono::seconds(1));

  // An MPS control daemon that ended may be restarting. The strategy stays this long for it, even if no pod
  // needs it.
  static constexpr std::int64_t kMayComeBack = 30'000'000'000;  // ns

  State state() const;
  void Want(Sharing sharing);  // takes effect at the next round
  // Notes whether living pods were started under MPS. The caller calls this twice a second. Before the
  // first call, an earlier strategy of MPS stays.
  void NoteNeed(bool needed);
  // Notes whether any slot could be given out if MPS took clients. Only then does the watch ask MPS for a
  // server if it has none. Before the first call it does not ask.
  void NoteOffers(bool any);

 private:
  void Round();
  void BeginAnew(pid_t control_daemon);
  void Choose(const MpsControl::State& mps);
  void AskMps(const MpsControl::State& mps);
  void AskForServer();
  void NoteList(const MpsControl::List& list);
  MpsLook LookAt(const MpsControl::List& list);
  std::optional<MpsStatus> StatusOf(pid_t server);
  void NoteFault(const MpsControl::State& mps);
  void WarnOnce(const std::string& command, const std::string& answer, const char* expected);
  void DrainClients();
  void End(pid_t server, pid_t client, const std::string& pod);

  const MpsControl control_;
  const std::function<std::vector<Pod>()> pods_;
  const std::string cgroup_root_;
  ClientDrain drain_;             // used by the thread only
  MpsHealth health_;              // used by the thread only
  MpsLosses losses_;              // used by the thread only
  std::set<std::string> warned_;  // commands with odd answers that were logged; used by the thread only
  uid_t last_served_ = 0;         // used by the thread only
  int since_asked_ = 0;           // in rounds; used by the thread only
  pid_t daemon_ = 0;              // the control daemon of the last round; used by the thread only
  bool odd_list_ = false;         // its last answer for servers was no list; used by the thread only
  std::optional<std::int64_t> gone_since_;  // end of the control daemon; used by the thread only
  std::atomic<Sharing> wanted_;
  std::atomic<bool> needed_{false};
  std::atomic<bool> need_known_{false};
  std::atomic<bool> offers_{false};
  mutable std::mutex mutex_;
  State state_;
  threads::PeriodicTask task_;  // must be the last member: its thread uses the others
};

}  // namespace crossover::deviceplugin
