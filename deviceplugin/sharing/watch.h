// Keeps up with how the GPUs are shared, once a second and on a thread of its own: whether MPS is there, whom
// it serves, which of its clients are to be ended. Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/threads/rounds.h"
#include "deviceplugin/mps/control.h"
#include "deviceplugin/mps/farewell.h"
#include "deviceplugin/sharing/choice.h"

namespace crossover::deviceplugin {

class SharingWatch {
 public:
  struct State {
    SharingChoice choice;
    MpsControl::State mps;
    std::optional<uid_t> served;   // by the one server of MPS that there is, if there is
    std::set<pid_t> servers;       // of MPS
    bool asked = false;            // for these, once at least, whether or not there was an answer
    std::uint64_t terminated = 0;  // clients, through MPS
  };

  // The choice is made when this returns. `pods`, of the node, is called on the watch's thread.
  // `cgroup_root`: the kubelet's (cgroup.h).
  SharingWatch(MpsControl::Settings mps, Sharing wanted, std::function<std::vector<Pod>()> pods,
               std::string cgroup_root);

  // A control daemon that goes is waited for so long, as one that starts anew, also where no pod needs it.
  static constexpr std::int64_t kMayComeBack = 30'000'000'000;  // ns

  State state() const;
  void Want(Sharing sharing);  // from the next round on
  // Whether pods that live were started under MPS, as is found out now and then. Until it is first known,
  // what was chosen stays.
  void NoteNeed(bool needed);

 private:
  void Round();
  void Choose();
  void AskWhomMpsServes();
  void SayFarewell();
  void End(pid_t server, pid_t client, const std::string& pod);

  const MpsControl control_;
  const std::function<std::vector<Pod>()> pods_;
  const std::string cgroup_root_;
  Farewell farewell_;                       // of the thread alone, like since_asked_
  int since_asked_ = 0;                     // rounds
  std::optional<std::int64_t> gone_since_;  // MPS; likewise
  std::atomic<Sharing> wanted_;
  std::atomic<bool> needed_{false};
  std::atomic<bool> need_known_{false};
  mutable std::mutex mutex_;
  State state_;
  threads::Rounds rounds_;  // last: it uses the others
};

}  // namespace crossover::deviceplugin
