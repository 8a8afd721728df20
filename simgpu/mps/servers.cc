#include "simgpu/mps/servers.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "simgpu/mps/protocol.h"

namespace simgpu::mps {
namespace {

constexpr int kMostDescriptors = 1024;

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
  const pid_t server = fork();
  if (server == 0) {
    prctl(PR_SET_NAME, "nvidia-cuda-mps-server");
    if (setuid(uid) != 0) _exit(1);
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // after setuid(), because a change of the user clears it
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
  char byte = 0;
  if (recv(connection, &byte, 1, MSG_DONTWAIT) > 0) {
    client->said_bye |= byte == kBye;
    if (byte == kFault && settings_.strict) Hit(client->server);
    return;
  }
  const pid_t server = client->server;
  const bool killed = server != 0 && !client->said_bye;
  Drop(client, false);
  if (killed && settings_.strict) EndClientsOf(server);
  Serve();
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
  if (server != servers_.end() && !Busy(server->first)) server->second.fault = false;
}

// Puts a server in FAULT, and takes the contexts of its clients away.
void Servers::Hit(pid_t server) {
  const auto known = servers_.find(server);
  if (known == servers_.end()) return;
  known->second.fault = true;
  for (const Client& client : clients_) {
    if (client.server == server) send(client.connection, &kFault, 1, MSG_NOSIGNAL);
  }
}

}  // namespace simgpu::mps
