#include "deviceplugin/sharing/watch.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/base/clock.h"
#include "common/base/gpu_phrases.h"
#include "common/logging/log.h"
#include "common/text/truncate.h"
#include "deviceplugin/pods/cgroup.h"

namespace crossover::deviceplugin {
namespace {

constexpr int kAskEvery = 5;         // in rounds while all is well; asking runs programs
constexpr std::size_t kShown = 100;  // bytes of an answer in the log

std::string FaultOfProtocol(int protocol) {
  return std::string(base::kSaysMpsTakesNone) + " of ours: its control daemon speaks protocol " +
         std::to_string(protocol) + " (option -p, or CUDA_MPS_PROTOCOL_VERSION), expected " +
         std::to_string(kMpsProtocol);
}

// Returns whether the control daemon has other commands than MpsControl sends. If its options do not tell for
// sure, `odd_list` decides: its answer to get_server_list was no list.
bool SpeaksAnother(const MpsOptions& options, bool odd_list) {
  return options.protocol != kMpsProtocol && (options.sure || odd_list);
}

SharingWatch::State Begin(const MpsControl& control, Sharing wanted) {
  SharingWatch::State state;
  state.mps = control.Look();
  const bool another = state.mps.alive && SpeaksAnother(state.mps.options, false);
  if (another) state.fault = FaultOfProtocol(state.mps.options.protocol);
  state.strategy = ChooseSharing(wanted, {.alive = state.mps.alive, .known = another, .fault = state.fault});
  if (state.strategy.sharing != Sharing::kMps) state.fault.clear();
  return state;
}

bool IsBlank(const std::string& text) { return text.find_first_not_of(" \t\r\n") == std::string::npos; }

}  // namespace

SharingWatch::SharingWatch(MpsControl::Settings mps, Sharing wanted, std::function<std::vector<Pod>()> pods,
                           std::string cgroup_root, std::chrono::milliseconds period)
    : control_(std::move(mps)),
      pods_(std::move(pods)),
      cgroup_root_(std::move(cgroup_root)),
      wanted_(wanted),
      state_(Begin(control_, wanted)),
      task_(
          "xo-sharing", period, [this] { Round(); }, threads::PeriodicTask::First::kAtOnce) {
  const SharingStrategy strategy = state().strategy;
  logging::Info("sharing: " + std::string(Name(strategy.sharing)) + ": " + strategy.reason);
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

void SharingWatch::NoteOffers(bool any) { offers_ = any; }

void SharingWatch::Round() {
  const MpsControl::State mps = control_.Look();
  if (mps.pid != daemon_) BeginAnew(mps.pid);
  NoteFault(mps);
  Choose(mps);
  if (!mps.alive) return;
  AskMps(mps);
  NoteFault(mps);
  Choose(mps);
  if (!SpeaksAnother(mps.options, odd_list_)) DrainClients();
}

// Forgets the answers of an earlier control daemon. `control_daemon` is the process of the present one; 0:
// there is none.
void SharingWatch::BeginAnew(pid_t control_daemon) {
  daemon_ = control_daemon;
  health_.Forget();
  losses_.Forget();
  since_asked_ = 0;
  odd_list_ = false;
  const std::lock_guard lock(mutex_);
  state_.served.reset();
  state_.servers.clear();
  state_.asked = false;
  state_.fault.clear();
  state_.unasked.clear();
}

void SharingWatch::Choose(const MpsControl::State& mps) {
  const std::int64_t now = base::MonotonicNs();
  if (mps.alive) {
    gone_since_.reset();
  } else if (!gone_since_) {
    gone_since_ = now;
  }
  SharingStrategy strategy;
  bool better = false;  // the way of sharing is the same, and slots are given out again
  {
    const std::lock_guard lock(mutex_);
    const bool chosen = state_.strategy.sharing == Sharing::kMps;
    strategy =
        ChooseSharing(wanted_, {.alive = mps.alive,
                                .was_there = chosen && gone_since_ && now - *gone_since_ < kMayComeBack,
                                .needed = need_known_ ? needed_.load() : chosen,
                                .known = health_.known(),
                                .fault = state_.fault});
    state_.mps = mps;
    if (strategy == state_.strategy) return;
    better = strategy.sharing == state_.strategy.sharing && !strategy.withheld;
    state_.strategy = strategy;
  }
  const std::string said = "sharing: " + std::string(Name(strategy.sharing)) + ": " + strategy.reason +
                           (strategy.withheld ? "; no slots are given out: " + strategy.withheld->text : "");
  better ? logging::Info(said) : logging::Warn(said);
}

// Asks for the servers and for their status. Asks for a server if there is none.
void SharingWatch::AskMps(const MpsControl::State& mps) {
  if (SpeaksAnother(mps.options, false)) {
    const std::lock_guard lock(mutex_);
    state_.asked = true;  // this daemon would not understand the answers of MPS
    return;
  }
  const bool matters = state().strategy.sharing == Sharing::kMps && offers_;
  const bool calm = !matters || (health_.known() && health_.well());
  if (calm && since_asked_++ % kAskEvery != 0) return;
  const MpsControl::List list = control_.Servers();
  if (!list.answer.given() && control_.Look().pid != daemon_) return;  // MPS has just ended
  NoteList(list);
  if (state().strategy.sharing != Sharing::kMps) {  // MPS may stay without a server
    health_.Forget();
    return;
  }
  health_.OnLook(LookAt(list), base::MonotonicNs());
  if (health_.wants_server() && offers_) AskForServer();
}

void SharingWatch::AskForServer() {
  const MpsAnswer answer = control_.StartServer(last_served_);
  if (answer.unrecognized()) WarnOnce("start_server", answer.text, "a server, or why it does not start");
  // A request that takes longer than the wait counts as accepted, too.
  const bool taken = (answer.given() && !answer.unrecognized()) || answer.kind == MpsAnswer::Kind::kLate;
  health_.OnServerAsked(taken, base::MonotonicNs());
  // Lists the servers again at once: a new server must be known before it uses a GPU, or it would count as a
  // stranger.
  const MpsControl::List list = control_.Servers();
  NoteList(list);
  health_.OnLook(LookAt(list), base::MonotonicNs());
}

// Notes which servers there are, and whether the control daemon can be asked for them.
void SharingWatch::NoteList(const MpsControl::List& list) {
  using Kind = MpsAnswer::Kind;
  const bool failed = list.answer.kind == Kind::kFailed || list.answer.kind == Kind::kNotStarted;
  const std::string unasked = failed ? list.answer.Fault() : "";
  odd_list_ = list.servers.empty() && !list.odd.empty();
  if (!list.odd.empty())
    WarnOnce("get_server_list", list.odd,
             odd_list_ ? "one process ID on each line; it is not known which servers MPS has"
                       : "one process ID on each line; the daemon ignores this line");
  if (!list.servers.empty()) last_served_ = list.servers.front().uid;
  const bool known = list.answer.given() && !odd_list_;
  const std::optional<pid_t> lost = known ? losses_.OnList(list.servers) : std::nullopt;
  if (lost)
    logging::Warn("MPS: its server, process " + std::to_string(*lost) +
                  ", has ended: CUDA programs that were its clients fail");
  const std::lock_guard lock(mutex_);
  if (unasked != state_.unasked && !unasked.empty())
    logging::Warn(
        "MPS: get_server_list: " + unasked +
        ": whether MPS takes clients is not known; see that node.mps_control is the client program of MPS, "
        "and that it runs in this daemon's container");
  state_.unasked = unasked;
  state_.asked = true;
  if (lost) {
    ++state_.losses;
    state_.lost_server = *lost;
  }
  // One failure changes nothing: the servers are probably the same as before.
  if (!list.answer.given()) return;
  state_.served.reset();
  state_.servers.clear();
  if (list.servers.size() == 1) state_.served = list.servers.front().uid;
  for (const MpsControl::Server& server : list.servers) state_.servers.insert(server.pid);
}

MpsLook SharingWatch::LookAt(const MpsControl::List& list) {
  if (list.answer.kind == MpsAnswer::Kind::kLate) return {.list = MpsLook::List::kSilent};
  if (!list.answer.given() || odd_list_) return {.list = MpsLook::List::kUnknown};
  MpsLook look{.list = MpsLook::List::kGiven};
  for (const MpsControl::Server& server : list.servers) {
    const MpsLook::Server seen{.state = server.state, .status = StatusOf(server.pid)};
    // Leaves out a server that has ended meanwhile: the answer about it says nothing.
    if (MpsControl::Lives(server.pid)) look.servers.push_back(seen);
  }
  return look;
}

std::optional<MpsStatus> SharingWatch::StatusOf(pid_t server) {
  const MpsAnswer answer = control_.Status(server);
  if (answer.kind == MpsAnswer::Kind::kLate) return std::nullopt;
  if (answer.given() && IsBlank(answer.text)) return std::nullopt;
  const MpsStatus status = ReadMpsStatus(answer.text);
  if (status == MpsStatus::kOther && MpsControl::Lives(server)) {
    WarnOnce("get_server_status", answer.given() ? answer.text : answer.Fault(),
             "ACTIVE, INITIALIZING or FAULT; the daemon counts the server as healthy");
  }
  return status;
}

void SharingWatch::NoteFault(const MpsControl::State& mps) {
  const bool another = SpeaksAnother(mps.options, odd_list_);
  std::string fault = another ? FaultOfProtocol(mps.options.protocol) : health_.fault();
  const std::lock_guard lock(mutex_);
  if (state_.strategy.sharing != Sharing::kMps) fault.clear();
  state_.fault = std::move(fault);
}

// Logs an answer of the control daemon that is not known, once for each command.
void SharingWatch::WarnOnce(const std::string& command, const std::string& answer, const char* expected) {
  if (!warned_.insert(command).second) return;
  const std::string_view line = std::string_view(answer).substr(0, answer.find('\n'));
  logging::Warn("MPS: " + command + ": \"" + std::string(text::Truncate(line, kShown)) + "\": expected " +
                expected);
}

void SharingWatch::DrainClients() {
  const auto due = drain_.Due(pods_(), base::MonotonicNs());
  if (due.empty()) return;
  std::set<std::string> uids;
  for (const Pod& pod : due) uids.insert(pod.uid);
  for (const MpsControl::Server& server : control_.Servers().servers) {
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
                ", which the kubelet is about to kill, was ended through MPS");
  const std::lock_guard lock(mutex_);
  ++state_.terminated;
}

}  // namespace crossover::deviceplugin
