#include "deviceplugin/sharing/watch.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/clock.h"
#include "common/base/gpu_reasons.h"
#include "common/logging/log.h"
#include "common/text/cut.h"
#include "deviceplugin/pods/cgroup.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::seconds kPeriod{1};
constexpr int kAskEvery = 5;         // in rounds while all is well; asking runs programs
constexpr std::size_t kShown = 100;  // bytes of an answer in the log

std::string FaultOfProtocol(int protocol) {
  return std::string(base::kMpsTakesNone) + " of ours: its control daemon speaks protocol " +
         std::to_string(protocol) + " (option -p, or CUDA_MPS_PROTOCOL_VERSION), expected " +
         std::to_string(kMpsProtocol);
}

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
  const MpsControl::State mps = state().mps;
  if (!mps.alive) {
    health_.Forget();
    since_asked_ = 0;
    return;
  }
  const bool known = mps.options.protocol == kMpsProtocol;
  if (known) AskMps();
  if (NoteFault(mps)) Choose();
  if (known) SayFarewell();
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
                                     .needed = need_known_ ? needed_.load() : chosen,
                                     .fault = state_.fault});
    state_.mps = mps;
    if (!mps.alive) {
      state_.served.reset();
      state_.servers.clear();
      state_.fault.clear();
    }
    if (choice == state_.choice) return;
    state_.choice = choice;
  }
  logging::Warn("sharing: " + std::string(Name(choice.sharing)) + ": " + choice.reason +
                (choice.withheld.empty() ? "" : "; nothing is given out: " + choice.withheld));
}

// Asks for the servers and for their status. Asks for a server if there is none.
void SharingWatch::AskMps() {
  if (health_.well() && since_asked_++ % kAskEvery != 0) return;
  std::string odd;
  const auto servers = control_.Servers(&odd);
  if (!odd.empty()) WarnOnce("get_server_list", odd, "process IDs, one a line; the line is left out");
  // One failure changes nothing: the servers are probably the same as before.
  if (servers) NoteServers(*servers);
  {
    const std::lock_guard lock(mutex_);
    state_.asked = true;
    if (state_.choice.sharing != Sharing::kMps) {  // it may stay without a server
      health_.Forget();
      return;
    }
  }
  health_.OnLook(LookAt(servers), base::MonotonicNs());
  if (health_.wants_server()) control_.StartServer(last_served_);
}

MpsLook SharingWatch::LookAt(const std::optional<std::vector<MpsControl::Server>>& servers) {
  if (!servers) return {};
  MpsLook look{.servers = std::vector<MpsLook::Server>()};
  for (const MpsControl::Server& server : *servers) {
    MpsLook::Server seen{.state = server.state};
    if (const auto answer = control_.Status(server.pid)) {
      seen.status = ReadMpsStatus(*answer);
      if (seen.status == MpsStatus::kOther)
        WarnOnce("get_server_status", *answer, "ACTIVE, INITIALIZING or FAULT; the server is taken for well");
    }
    look.servers->push_back(seen);
  }
  return look;
}

void SharingWatch::NoteServers(const std::vector<MpsControl::Server>& servers) {
  if (!servers.empty()) last_served_ = servers.front().uid;
  const std::lock_guard lock(mutex_);
  state_.served.reset();
  state_.servers.clear();
  if (servers.size() == 1) state_.served = servers.front().uid;
  for (const MpsControl::Server& server : servers) state_.servers.insert(server.pid);
}

// Returns whether the fault has changed.
bool SharingWatch::NoteFault(const MpsControl::State& mps) {
  const int protocol = mps.options.protocol;
  std::string fault = protocol == kMpsProtocol ? health_.fault() : FaultOfProtocol(protocol);
  const std::lock_guard lock(mutex_);
  if (fault == state_.fault) return false;
  state_.fault = std::move(fault);
  return true;
}

// Logs an answer of the control daemon that is not known, once for each command.
void SharingWatch::WarnOnce(const std::string& command, const std::string& answer, const char* expected) {
  if (!warned_.insert(command).second) return;
  const std::string_view line = std::string_view(answer).substr(0, answer.find('\n'));
  logging::Warn("MPS: " + command + ": \"" + std::string(text::Cut(line, kShown)) + "\": expected " +
                expected);
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
