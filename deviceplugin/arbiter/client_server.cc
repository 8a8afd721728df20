#include "deviceplugin/arbiter/client_server.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace crossover::arbiter {
namespace {

constexpr std::uint64_t kListenerTag = ClientServer::kFirstTag;
// Each connection has two tags: one for its socket, one for its process.
constexpr std::uint64_t SocketTag(std::uint64_t id) { return ClientServer::kFirstTag + 2 * id; }
constexpr std::uint64_t ProcessTag(std::uint64_t id) { return SocketTag(id) + 1; }
constexpr std::uint64_t IdOfTag(std::uint64_t tag) { return (tag - ClientServer::kFirstTag) / 2; }

constexpr int kMostAcceptsPerCall = 8;
constexpr turn::Time kAcceptPause = 100 * base::kNsPerMs;

}  // namespace

bool ClientServer::Open(const SocketSettings& settings, std::string* error) {
  if (!listener_.Open(settings, error)) return false;
  if (poller_->Add(listener_.fd(), kListenerTag)) return true;
  *error = "socket " + settings.path + ": the daemon cannot wait for connections to it";
  return false;
}

ClientServer::~ClientServer() { CloseAll("the daemon stops"); }

void ClientServer::OnReady(std::uint64_t tag, turn::Time now) {
  if (tag == kListenerTag) return Accept(now);
  const auto it = connections_.find(IdOfTag(tag));
  if (it == connections_.end()) return;
  if (tag == ProcessTag(it->first)) return Close(it, "its process ended");
  Read(it, now);
}

void ClientServer::Accept(turn::Time now) {
  for (int i = 0; i < kMostAcceptsPerCall; ++i) {
    base::UniqueFd socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (socket) {
      Admit(std::move(socket), now);
      continue;
    }
    const bool exhausted = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (exhausted) {
      // The listener stays readable, so the loop would spin. Stop polling it for a while.
      poller_->Remove(listener_.fd());
      accept_again_ = now + kAcceptPause;
    }
    return;
  }
}

void ClientServer::Admit(base::UniqueFd socket, turn::Time now) {
  std::optional<Peer> peer = IdentifyPeer(socket.get());
  if (!peer) return;
  const std::uint64_t id = next_id_++;
  const Account of_peer = delegate_->AccountOf(*peer);
  const std::string& account = of_peer.name;
  Connection connection(id, std::move(socket), std::move(*peer), of_peer, now + limits_.hello_within);
  const auto known = per_account_.find(account);
  const bool too_many = known != per_account_.end() && known->second >= limits_.connections_per_user;
  if (connections_.size() >= limits_.connections || too_many) {
    connection.SendRefused(too_many ? "too many connections of " + account : "too many connections");
    delegate_->OnTooMany(account);
    return;
  }
  if (!poller_->Add(connection.fd(), SocketTag(id))) return;
  if (connection.peer().pidfd) poller_->Add(connection.peer().pidfd.get(), ProcessTag(id));
  ++per_account_[account];
  silent_.emplace(id, connection.hello_deadline());
  connections_.emplace(id, std::move(connection));
}

void ClientServer::Read(Connections::iterator it, turn::Time now) {
  Connection& connection = it->second;
  const Connection::Received received = connection.Receive(now);
  if (std::holds_alternative<Connection::Nothing>(received)) return;
  std::string why = "it closed its connection";
  if (const Message* message = std::get_if<Message>(&received)) {
    const bool joins = std::holds_alternative<Hello>(*message) && connection.member == nullptr;
    if (HandleMessage(connection, *message, &why)) return;
    if (!why.empty() && !joins) delegate_->OnMalformed(connection, why);
    if (!why.empty()) connection.SendRefused(why);
  }
  Close(it, why);
}

bool ClientServer::HandleMessage(Connection& connection, const Message& message, std::string* why) {
  if (const auto* broken = std::get_if<Broken>(&message)) {
    *why = broken->reason;
    return false;
  }
  if (const auto* hello = std::get_if<Hello>(&message)) return HandleHello(connection, *hello, why);
  if (std::holds_alternative<Ask>(message)) return HandleAsk(connection, why);
  const auto has_joined = [&](const char* too_early) {
    if (connection.member == nullptr) *why = too_early;
    return connection.member != nullptr;
  };
  if (const auto* profile = std::get_if<Profile>(&message)) {
    if (!has_joined("profile: expected after hello, got one before it")) return false;
    delegate_->OnProfile(connection, *profile);
  }
  if (const auto* calls = std::get_if<Calls>(&message)) {
    if (!has_joined("calls: expected after hello, got some before it")) return false;
    delegate_->OnCalls(connection, *calls);
  }
  if (const auto* reductions = std::get_if<Reductions>(&message)) {
    if (!has_joined("reductions: expected after hello, got some before it")) return false;
    delegate_->OnReductions(connection, *reductions);
  }
  if (const auto* other = std::get_if<Unknown>(&message)) return delegate_->OnOther(connection, *other, why);
  return true;
}

// Answers a process that asks for its memory limit, from what the daemon already knows of the account. So a
// flood of asks does not make the thread that grants turns look at processes. Returns false, with the reason
// in `why`, if the process must not ask now.
bool ClientServer::HandleAsk(Connection& connection, std::string* why) {
  if (connection.member != nullptr || connection.asked) {
    *why = connection.asked ? "ask: expected one on a connection, got two"
                            : "ask: expected before hello, got one after it";
    return false;
  }
  connection.asked = true;
  connection.SendLimit(delegate_->MemoryOf(connection.account()));
  return true;
}

bool ClientServer::HandleHello(Connection& connection, const Hello& hello, std::string* why) {
  if (connection.member != nullptr) {
    *why = "hello: expected one on a connection, got two";
    return false;
  }
  *why = delegate_->OnHello(connection, hello);
  if (!why->empty()) return false;
  silent_.erase(connection.id());
  const Member& member = *connection.member;
  if (connection.SendWelcome(member.slot, member.memory_mib, member.gpu->page->fd())) return true;
  *why = "welcome: expected to be sent, got an error: the client may have ended";
  return false;
}

void ClientServer::Tick(turn::Time now) {
  if (accept_again_ != 0 && now >= accept_again_) {
    accept_again_ = 0;
    poller_->Add(listener_.fd(), kListenerTag);
  }
  while (!silent_.empty() && silent_.begin()->second <= now) {
    const auto it = connections_.find(silent_.begin()->first);
    delegate_->OnMalformed(it->second, "no hello in time");
    it->second.SendRefused("no hello in time");
    Close(it, "no hello in time");
  }
}

turn::Time ClientServer::next_tick() const {
  const turn::Time hello = silent_.empty() ? turn::kNever : silent_.begin()->second;
  return accept_again_ == 0 ? hello : std::min(hello, accept_again_);
}

void ClientServer::SendNotice(std::uint64_t id, std::string_view text) {
  if (const auto it = connections_.find(id); it != connections_.end()) it->second.SendNotice(text);
}

void ClientServer::Send(std::uint64_t id, std::span<const std::byte> message, int fd) {
  if (const auto it = connections_.find(id); it != connections_.end()) it->second.Send(message, fd);
}

void ClientServer::Close(std::uint64_t id, std::string_view why) {
  if (const auto it = connections_.find(id); it != connections_.end()) Close(it, why);
}

void ClientServer::CloseAll(std::string_view why) {
  while (!connections_.empty()) Close(connections_.begin(), why);
}

void ClientServer::Close(Connections::iterator it, std::string_view why) {
  Connection& connection = it->second;
  if (connection.member != nullptr) delegate_->OnGone(connection, why);
  // A descriptor that another process still has open would stay in the epoll set after our close.
  poller_->Remove(connection.fd());
  if (connection.peer().pidfd) poller_->Remove(connection.peer().pidfd.get());
  silent_.erase(it->first);
  const auto account = per_account_.find(connection.account().name);
  if (--account->second == 0) per_account_.erase(account);
  connections_.erase(it);
}

}  // namespace crossover::arbiter
