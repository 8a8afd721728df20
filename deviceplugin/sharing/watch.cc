#include "deviceplugin/sharing/watch.h"

#include <set>
#include <utility>

#include "common/base/clock.h"
#include "common/files/read_file.h"
#include "common/logging/log.h"
#include "deviceplugin/pods/cgroup.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr int kAskEvery = 5;  // rounds: that runs a program

std::optional<std::string> PodOf(pid_t pid) {
  std::string why;
  const auto groups = files::ReadFile("/proc/" + std::to_string(pid) + "/cgroup", &why);
  return groups ? PodUidOf(*groups) : std::nullopt;
}

}  // namespace

SharingWatch::SharingWatch(MpsControl::Settings mps, Sharing wanted, std::function<std::vector<Pod>()> pods)
    : control_(std::move(mps)),
      pods_(std::move(pods)),
      wanted_(wanted),
      state_{.choice = ChooseSharing(wanted, control_.Look().alive, false),
             .mps = control_.Look(),
             .served = {}},
      rounds_("xo-sharing", kPeriod, [this] { Round(); }) {
  logging::Info("sharing: " + std::string(Name(state_.choice.sharing)) + ": " + state_.choice.reason);
}

SharingWatch::State SharingWatch::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void SharingWatch::Want(Sharing sharing) { wanted_ = sharing; }

void SharingWatch::Round() {
  Choose();
  if (!state().mps.alive) return;
  AskWhomMpsServes();
  SayFarewell();
}

void SharingWatch::Choose() {
  const MpsControl::State mps = control_.Look();
  SharingChoice choice;
  {
    const std::lock_guard lock(mutex_);
    choice = ChooseSharing(wanted_, mps.alive, state_.choice.sharing == Sharing::kMps);
    state_.mps = mps;
    if (!mps.alive) state_.served.reset();
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
  state_.served.reset();
  if (servers && servers->size() == 1) state_.served = servers->front().uid;
}

void SharingWatch::SayFarewell() {
  const auto due = farewell_.Due(pods_(), base::MonotonicNs());
  if (due.empty()) return;
  std::set<std::string> uids;
  for (const Pod& pod : due) uids.insert(pod.uid);
  const auto servers = control_.Servers();
  if (!servers) return;
  for (const MpsControl::Server& server : *servers) {
    const auto clients = control_.Clients(server.pid);
    for (const pid_t client : clients.value_or(std::vector<pid_t>())) {
      const auto pod = PodOf(client);
      if (!pod || !uids.contains(*pod) || !control_.Terminate(server.pid, client)) continue;
      logging::Info("process " + std::to_string(client) + " of pod " + *pod +
                    ", which is about to be killed, was ended through MPS");
      const std::lock_guard lock(mutex_);
      ++state_.terminated;
    }
  }
}

}  // namespace crossover::deviceplugin
