#include "simgpu/mps/servers.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "simgpu/mps/protocol.h"

namespace simgpu::mps {
namespace {

constexpr int kMostDescriptors = 1024;
constexpr std::size_t kLongestMessage = 64;  // of a client

}  // namespace

Servers::~Servers() {
  for (const auto& [server, of] : servers_) kill(server, SIGKILL);
}

void Servers::AddClient(int connection, pid_t pid, uid_t uid) {
  if (const char refusal = RefusalOf(uid); refusal != 0) {
    send(connection, &refusal, 1, MSG_NOSIGNAL);
    close(connection);
    return;
  }
  clients_.push_back({connection, pid, uid});
  Serve();
  if (clients_.back().server != 0) return;
  std::printf("client %d of user %u waits\n", static_cast<int>(pid), uid);
  std::fflush(stdout);
}

std::vector<int> Servers::connections() const {
  std::vector<int> all;
  for (const Client& client : clients_) all.push_back(client.connection);
  return all;
}

// Gives a server to each waiting client that may have one, in the order in which the clients came.
void Servers::Serve() {
  for (auto client = clients_.begin(); client != clients_.end(); ++client) {
    if (client->server != 0) continue;
    client->server = ServerFor(client->uid);
    if (client->server == 0) return;
    const double percentage = servers_.at(client->server).percentage;
    char go[1 + sizeof percentage] = {kGo};
    std::memcpy(go + 1, &percentage, sizeof percentage);
    send(client->connection, go, sizeof go, MSG_NOSIGNAL);
  }
}

// Returns a server for a client of `uid`; starts one if need be. Returns 0 while another user's server has
// clients.
pid_t Servers::ServerFor(uid_t uid) {
  if (const auto own = ServerOf(uid); own != servers_.end()) return own->first;
  if (!servers_.empty()) {
    const pid_t server = servers_.begin()->first;
    if (Busy(server)) return 0;
    servers_.erase(server);
    kill(server, SIGKILL);
  }
  return starts_ ? StartServer(settings_.multi_user ? 0 : uid) : 0;
}

std::map<pid_t, Servers::Server>::iterator Servers::ServerOf(uid_t uid) {
  return std::find_if(servers_.begin(), servers_.end(),
                      [&](const auto& server) { return settings_.multi_user || server.second.uid == uid; });
}

bool Servers::Busy(pid_t server) const {
  return std::any_of(clients_.begin(), clients_.end(),
                     [server](const Client& client) { return client.server == server; });
}

// Returns what a new client is refused with, or 0 if it gets a server or waits for one.
char Servers::RefusalOf(uid_t uid) {
  const auto own = ServerOf(uid);
  if (own != servers_.end()) return own->second.fault ? kNotReady : '\0';
  return starts_ ? '\0' : kNoServer;
}

pid_t Servers::StartServer(uid_t uid) {
  const pid_t daemon = getpid();
  const pid_t server = fork();
  if (server == 0) {
    prctl(PR_SET_NAME, "nvidia-cuda-mps-server");
    if (setuid(uid) != 0) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);   // after setuid(), because a change of the user clears it
    if (getppid() != daemon) _exit(1);  // the daemon has ended before that line
    // The daemon's socket and its clients' connections must end with the daemon.
    for (int fd = STDERR_FILENO + 1; fd < kMostDescriptors; ++fd) close(fd);
    for (;;) pause();
  }
  servers_[server] = {.uid = uid, .percentage = percentage_};
  return server;
}

void Servers::OnReadable(int connection) {
  const auto client = std::find_if(clients_.begin(), clients_.end(),
                                   [=](const Client& c) { return c.connection == connection; });
  if (client == clients_.end()) return;
  // All that the client has said comes before a command that another process sends later.
  char message[kLongestMessage];
  ssize_t got = 0;
  while ((got = recv(connection, message, sizeof message, MSG_DONTWAIT)) > 0)
    Heed(&*client, std::string(message, static_cast<std::size_t>(got)));
  if (got < 0 && errno == EAGAIN) return;
  const pid_t server = client->server;
  const bool killed = server != 0 && !client->said_bye;
  Drop(client, false);
  if (killed && settings_.strict) EndClientsOf(server);
  Serve();
}

// Takes note of a message of a client.
void Servers::Heed(Client* client, const std::string& message) {
  const std::string gpu = message.substr(1);
  client->said_bye |= message[0] == kBye;
  if (message[0] == kUses) client->gpus.insert(gpu);
  if (message[0] == kFault && settings_.strict) Hit(client->server, gpu);
}

void Servers::OnServerEnd(pid_t server) {
  if (servers_.erase(server) == 0) return;
  EndClientsOf(server);
  Serve();
}

void Servers::EndClientsOf(pid_t server) {
  for (auto client = clients_.begin(); client != clients_.end();) {
    const auto next = std::next(client);
    if (client->server == server) Drop(client, true);
    client = next;
  }
}

void Servers::Drop(Clients::iterator client, bool tell) {
  if (tell) send(client->connection, &kEnd, 1, MSG_NOSIGNAL);
  close(client->connection);
  const auto server = servers_.find(client->server);
  clients_.erase(client);
  if (server != servers_.end() && FaultIsOver(server->first, server->second)) server->second.fault = false;
}

bool Servers::FaultIsOver(pid_t server, const Server& of) const {
  return std::none_of(clients_.begin(), clients_.end(), [&](const Client& client) {
    return client.server == server && (client.hit || !of.hits);
  });
}

// Takes the contexts of clients away and puts the server in FAULT until these have ended. Hits all clients if
// `gpu` is empty, else those in the domain of a fault on that GPU. Returns how many clients it has hit; with
// a GPU that none uses it does nothing.
int Servers::Hit(pid_t server, const std::string& gpu) {
  const auto known = servers_.find(server);
  if (known == servers_.end()) return 0;
  std::vector<GpuSet> used;
  for (const Client& client : clients_) {
    if (client.server == server) used.push_back(client.gpus);
  }
  const GpuSet domain = FaultDomain(used, gpu);
  int count = 0;
  for (Client& client : clients_) {
    if (client.server != server || (!gpu.empty() && !Meets(client.gpus, domain))) continue;
    client.hit = true;
    send(client.connection, &kFault, 1, MSG_NOSIGNAL);
    ++count;
  }
  if (!gpu.empty() && count == 0) return 0;
  if (!known->second.fault) known->second.hits = true;
  known->second.fault = true;
  return count;
}

}  // namespace simgpu::mps
