// Answers the lines of the control program. Texts that programs may read are those of NVIDIA's daemon.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "simgpu/mps/servers.h"

namespace simgpu::mps {
namespace {

// Reads a process ID; 0 if the words have none.
pid_t ReadPid(std::istringstream& words) {
  pid_t pid = 0;
  words >> pid;
  return pid;
}

std::string RestOf(std::istringstream& words) {
  std::string rest;
  std::getline(words, rest);
  return rest;
}

std::string NoServer(pid_t server) { return "Server " + std::to_string(server) + " not found\n"; }

// NVIDIA's later daemons say in a second sentence who has them.
std::string LacksPrivileges(uid_t uid) {
  return "Insufficient privileges for UID " + std::to_string(uid) + "\n";
}

std::string Shown(double percentage) {
  char text[16];
  std::snprintf(text, sizeof text, "%.1f\n", percentage);
  return text;
}

}  // namespace

double ReadPercentage(const std::string& text) {
  const double value = std::strtod(text.c_str(), nullptr);
  return value > 0 && value <= kWholeGpu ? value : 0;
}

bool Servers::IsAdministrator(uid_t uid) const { return uid == 0 || uid == geteuid(); }

Servers::Command Servers::Find(const std::string& name) {
  static const std::map<std::string, Command> kCommands = {
      {"get_server_list", &Servers::ListServers},
      {"get_client_list", &Servers::ListClients},
      {"terminate_client", &Servers::TerminateClient},
      {"get_server_status", &Servers::TellStatus},
      {"start_server", &Servers::StartByCommand},
      {"get_default_active_thread_percentage", &Servers::TellDefault},
      {"set_default_active_thread_percentage", &Servers::SetDefault},
      {"get_active_thread_percentage", &Servers::TellPercentage},
      {"set_active_thread_percentage", &Servers::SetPercentage},
      {"simgpu_fault", &Servers::SetFault},
      {"simgpu_recover", &Servers::EndFault},
      {"simgpu_servers", &Servers::SetStarts},
  };
  const auto found = kCommands.find(name);
  return found == kCommands.end() ? nullptr : found->second;
}

std::string Servers::Execute(const std::string& line, uid_t uid) {
  std::istringstream words(line);
  std::string name;
  words >> name;
  Command command = settings_.other_commands ? nullptr : Find(name);
  if (command == &Servers::TellStatus && !TellsStatus(settings_.driver)) command = nullptr;
  return command == nullptr ? "Unknown command \"" + name + "\"\n" : (this->*command)(words, uid);
}

std::string Servers::ListServers(std::istringstream&, uid_t) {
  std::string answer;
  for (const auto& [known, of] : servers_) answer += std::to_string(known) + "\n";
  return answer;
}

std::string Servers::ListClients(std::istringstream& words, uid_t) {
  const pid_t server = ReadPid(words);
  if (servers_.find(server) == servers_.end()) return NoServer(server);
  std::string answer;
  for (const Client& client : clients_) {
    if (client.server == server) answer += std::to_string(client.pid) + "\n";
  }
  return answer;
}

std::string Servers::TerminateClient(std::istringstream& words, uid_t) {
  const pid_t server = ReadPid(words);
  const pid_t pid = ReadPid(words);
  if (servers_.find(server) == servers_.end()) {
    const std::string number = std::to_string(server);
    return NoServer(server) + "Server " + number + " not found!\n1\n";
  }
  const auto client = std::find_if(clients_.begin(), clients_.end(),
                                   [=](const Client& c) { return c.server == server && c.pid == pid; });
  if (client == clients_.end()) return "Failed to find client\n";
  Drop(client, true);
  Serve();
  return "";
}

std::string Servers::TellStatus(std::istringstream& words, uid_t) {
  pid_t server = 0;
  if (!(words >> server)) return "A server PID is required\n";
  const auto known = servers_.find(server);
  if (known == servers_.end()) return NoServer(server);
  return known->second.fault ? "FAULT\n" : "ACTIVE\n";
}

// Starts a server for a user unless there is one.
std::string Servers::StartByCommand(std::istringstream& words, uid_t uid) {
  std::string option;
  uid_t user = 0;
  if (!(words >> option >> user) || option != "-uid")
    return "A user id (UID) is required to start a new server\n";
  if (uid != 0 && uid != user) return LacksPrivileges(uid);
  if (!servers_.empty()) return "";
  if (!starts_) return "Failed to start server\n";
  StartServer(settings_.multi_user ? 0 : user);
  return "";
}

std::string Servers::TellDefault(std::istringstream&, uid_t) { return Shown(percentage_); }

// Sets the percentage of the servers that start later. Tells the one that holds then: the old one if the
// words have no percentage.
std::string Servers::SetDefault(std::istringstream& words, uid_t uid) {
  if (GuardsSettings(settings_.driver) && !IsAdministrator(uid)) return LacksPrivileges(uid);
  const double percentage = ReadPercentage(RestOf(words));
  if (percentage > 0) percentage_ = percentage;
  return Shown(percentage_);
}

std::string Servers::TellPercentage(std::istringstream& words, uid_t) {
  const pid_t server = ReadPid(words);
  const auto known = servers_.find(server);
  return known == servers_.end() ? NoServer(server) : Shown(known->second.percentage);
}

// Sets the percentage of the later clients of a running server.
std::string Servers::SetPercentage(std::istringstream& words, uid_t) {
  const pid_t server = ReadPid(words);
  const auto known = servers_.find(server);
  if (known == servers_.end()) return NoServer(server);
  const std::string text = RestOf(words);
  const double percentage = ReadPercentage(text);
  if (percentage == 0) return "Invalid percentage '" + text + "': expected a number above 0 and up to 100\n";
  known->second.percentage = percentage;
  return "";
}

// Puts a server in FAULT. With `hits` its clients lose their contexts, too; with a GPU behind it, those that
// a fault on this GPU reaches.
std::string Servers::SetFault(std::istringstream& words, uid_t) {
  const pid_t server = ReadPid(words);
  std::string whom, gpu;
  if (words >> whom && whom != "hits") return "Invalid word '" + whom + "': expected hits or nothing\n";
  const auto known = servers_.find(server);
  if (known == servers_.end()) return NoServer(server);
  if (words >> gpu) {
    return Hit(server, gpu) > 0
               ? ""
               : "Invalid GPU '" + gpu + "': expected the UUID of a GPU that a client uses\n";
  }
  if (!whom.empty()) {
    Hit(server, "");
    return "";
  }
  known->second.fault = true;
  known->second.hits = false;
  return "";
}

std::string Servers::EndFault(std::istringstream& words, uid_t) {
  const pid_t server = ReadPid(words);
  std::string word;
  if (words >> word) return "Invalid word '" + word + "': expected nothing\n";
  const auto known = servers_.find(server);
  if (known == servers_.end()) return NoServer(server);
  known->second.fault = false;
  return "";
}

// Sets whether servers can start.
std::string Servers::SetStarts(std::istringstream& words, uid_t) {
  std::string text;
  words >> text;
  if (text != "start" && text != "fail") return "simgpu_servers " + text + ": expected start or fail\n";
  starts_ = text == "start";
  Serve();
  return "";
}

}  // namespace simgpu::mps
