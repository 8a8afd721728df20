#include "deviceplugin/sharing/watch.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/clock.h"
#include "common/logging/log.h"
#include "deviceplugin/pods/cgroup.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr int kAskEvery = 5;  // in rounds; asking runs a program

SharingWatch::State Begin(const MpsControl& control, Sharing wanted) {
  SharingWatch::State state;
  state.mps = control.Look();
  state.choice = ChooseSharing(wanted, {.alive = state.mps.alive});
  return state;
}

}  // namespace

SharingWatch::SharingWatch(MpsControl::Settings mps, Sharing wanted, std::function<std::vector<Pod>()> pods,
                           std::string cgroup_root)
    : control_(std::move(mps)),
      pods_(std::move(pods)),
      cgroup_root_(std::move(cgroup_root)),
      wanted_(wanted),
      state_(Begin(control_, wanted)),
      rounds_("xo-sharing", kPeriod, [this] { Round(); }) {
  logging::Info("sharing: " + std::string(Name(state_.choice.sharing)) + ": " + state_.choice.reason);
}

SharingWatch::State SharingWatch::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void SharingWatch::Want(Sharing sharing) { wanted_ = sharing; }

void SharingWatch::NoteNeed(bool needed) {
  needed_ = needed;
  need_known_ = true;
}

void SharingWatch::Round() {
  Choose();
  if (!state().mps.alive) return;
  AskWhomMpsServes();
  SayFarewell();
}

void SharingWatch::Choose() {
  const MpsControl::State mps = control_.Look();
  const std::int64_t now = base::MonotonicNs();
  if (mps.alive) {
    gone_since_.reset();
  } else if (!gone_since_) {
    gone_since_ = now;
  }
  SharingChoice choice;
  {
    const std::lock_guard lock(mutex_);
    const bool chosen = state_.choice.sharing == Sharing::kMps;
    choice = ChooseSharing(wanted_, {.alive = mps.alive,
                                     .was_there = chosen && gone_since_ && now - *gone_since_ < kMayComeBack,
                                     .needed = need_known_ ? needed_.load() : chosen});
    state_.mps = mps;
    if (!mps.alive) {
      state_.served.reset();
      state_.servers.clear();
    }
    if (choice == state_.choice) return;
    state_.choice = choice;
  }
  logging::Warn("sharing: " + std::string(Name(choice.sharing)) + ": " + choice.reason +
                (choice.withheld.empty() ? "" : "; nothing is given out: " + choice.withheld));
}

void SharingWatch::AskWhomMpsServes() {
  if (since_asked_++ % kAskEvery != 0) return;
  const auto servers = control_.Servers();
  const std::lock_guard lock(mutex_);
  state_.asked = true;
  // One failure changes nothing: the servers are probably the same as before.
  if (!servers) return;
  state_.served.reset();
  state_.servers.clear();
  if (servers->size() == 1) state_.served = servers->front().uid;
  for (const MpsControl::Server& server : *servers) state_.servers.insert(server.pid);
}

void SharingWatch::SayFarewell() {
  const auto due = farewell_.Due(pods_(), base::MonotonicNs());
  if (due.empty()) return;
  std::set<std::string> uids;
  for (const Pod& pod : due) uids.insert(pod.uid);
  const auto servers = control_.Servers();
  if (!servers) return;
  for (const MpsControl::Server& server : *servers) {
    for (const pid_t client : control_.Clients(server.pid).value_or(std::vector<pid_t>())) {
      const auto pod = PodUidOf(client, cgroup_root_);
      if (pod && uids.contains(*pod)) End(server.pid, client, *pod);
    }
  }
}

// Terminates the client through MPS. The answer says little, so the list of clients shows whether the
// client is gone.
void SharingWatch::End(pid_t server, pid_t client, const std::string& pod) {
  control_.Terminate(server, client);
  const auto left = control_.Clients(server);
  if (!left || std::find(left->begin(), left->end(), client) != left->end()) return;
  logging::Info("process " + std::to_string(client) + " of pod " + pod +
                ", which is about to be killed, was ended through MPS");
  const std::lock_guard lock(mutex_);
  ++state_.terminated;
}

}  // namespace crossover::deviceplugin
