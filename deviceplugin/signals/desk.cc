#include "deviceplugin/signals/desk.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "common/base/refusal.h"

namespace crossover::signals {

bool SignalDesk::Open(arbiter::Observer* observer, std::string* error) {
  observer_ = observer;
  return poller_.Open(error);
}

Station& SignalDesk::StationOf(const std::string& gpu_uuid) {
  return stations_.try_emplace(gpu_uuid, gpu_uuid, observer_).first->second;
}

// Reads from all signallers, whichever has sent something: a node has few, and they seldom speak.
void SignalDesk::OnReady(turn::Time now) {
  for (auto& [uuid, station] : stations_) station.Read(now, &mail_);
}

turn::Time SignalDesk::Tick(turn::Time now) {
  turn::Time next = turn::kNever;
  bool news = false;
  const Use use = use_;
  for (auto& [uuid, station] : stations_) {
    station.Set(use);
    news |= station.due() <= now;
    next = std::min(next, station.Tick(now, &mail_));
  }
  if (news) Publish();
  return next;
}

// Drops stations that have nothing any more. So clients that name more and more GPUs fill no memory.
void SignalDesk::Publish() {
  std::erase_if(stations_, [](const auto& entry) { return entry.second.empty(); });
  const std::lock_guard lock(mutex_);
  figures_.clear();
  for (const auto& [uuid, station] : stations_) figures_[uuid] = station.figures();
}

void SignalDesk::OnJoin(const std::shared_ptr<const arbiter::Member>& member) {
  StationOf(member->gpu->uuid).Join(member, &mail_);
}

void SignalDesk::OnGone(const arbiter::Member& member) { StationOf(member.gpu->uuid).Leave(member.id); }

bool SignalDesk::OnMessage(const arbiter::Connection& connection, const arbiter::Unknown& message,
                           std::string* why) {
  const PeerMessage parsed = ParsePeer(message.bytes);
  if (const auto* broken = std::get_if<Broken>(&parsed)) {
    *why = broken->reason;
    return false;
  }
  if (std::holds_alternative<Unknown>(parsed)) return true;
  if (const auto* hello = std::get_if<SignallerHello>(&parsed)) {
    *why = Admit(connection, *hello);
    if (!why->empty())
      observer_->OnLog(arbiter::LogLevel::kWarn,
                       "gpu " + hello->gpu_uuid + ": a signaller is refused: " + *why);
    return false;
  }
  if (connection.member == nullptr) {
    *why = "signals: expected a message about them after hello, got one before it";
    return false;
  }
  Station& station = StationOf(connection.member->gpu->uuid);
  const std::uint64_t client = connection.member->id;
  if (const auto* want = std::get_if<WantSignals>(&parsed)) station.Want(client, want->want);
  if (const auto* prove = std::get_if<Prove>(&parsed)) station.Ask(client, *prove, &mail_);
  return true;
}

// Returns an empty string if the peer is the signaller of its GPU from now on, or why it is not.
std::string SignalDesk::Admit(const arbiter::Connection& connection, const SignallerHello& hello) {
  if (connection.member != nullptr)
    return "signaller: expected a connection of its own, got that of a client";
  const arbiter::Peer& peer = connection.peer();
  if (peer.uid != geteuid()) {
    return base::Refusal("signaller", "a process of user " + std::to_string(geteuid()) + ", the daemon's",
                         "one of user " + std::to_string(peer.uid));
  }
  if (identities_ != nullptr && !identities_->MaySignal(connection.account())) {
    return base::Refusal("signaller",
                         "a process in no pod, or in a running pod of the daemon's own namespace",
                         "one of " + base::Shown(connection.account().name));
  }
  base::UniqueFd socket(fcntl(connection.fd(), F_DUPFD_CLOEXEC, 0));
  if (!socket) return base::Refusal("signaller", "a free file descriptor of the daemon", "none");
  const int fd = socket.get();
  std::string why = StationOf(hello.gpu_uuid)
                        .Attach(std::make_unique<SignallerLink>(std::move(socket), peer.pid), hello.rests);
  if (!why.empty()) return why;
  poller_.Add(fd, 0);
  return why;
}

ByGpu SignalDesk::figures() {
  ByGpu figures;
  {
    const std::lock_guard lock(mutex_);
    figures = figures_;
  }
  usage_.Fill(&figures);
  return figures;
}

}  // namespace crossover::signals
