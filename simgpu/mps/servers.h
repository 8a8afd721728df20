// Keeps the servers of a control daemon and their clients: which client waits, and which has a server. A
// server is a process of its user. Unless `multi_user` is set, there is one server at a time, and clients of
// other users wait until it has no client.
#pragma once

#include <sys/types.h>

#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "simgpu/mps/domain.h"
#include "simgpu/mps/driver.h"

namespace simgpu::mps {

inline constexpr double kWholeGpu = 100;  // percentage

// Returns the percentage of active threads with which `text` begins, a number above 0 and up to 100, or 0 if
// it begins with none. What follows the number is ignored, as NVIDIA's daemon does.
double ReadPercentage(const std::string& text);

class Servers {
 public:
  // With `strict`, a client that ends without kBye, for example because it was killed, ends the other
  // clients of its server too, and one that reports a fault of its own hits those in the domain of the
  // fault's GPU. `percentage` is the part of the threads that clients of later servers may use, above 0 and
  // up to 100. Commands are answered as the daemon of `driver` answers them; with `other_commands`, none of
  // them is known.
  struct Settings {
    bool multi_user = false;
    bool strict = false;
    double percentage = kWholeGpu;
    Driver driver = Driver::k555;
    bool other_commands = false;
  };
  explicit Servers(const Settings& settings) : settings_(settings), percentage_(settings.percentage) {}
  ~Servers();

  // Adds a client, which waits until it has a server, or refuses it. Takes ownership of the connection.
  void AddClient(int connection, pid_t pid, uid_t uid);
  // Handles a connection that can be read: reads what its client says, and whether it is gone.
  void OnReadable(int connection);
  // Handles the end of a server process: ends its clients and serves those that wait.
  void OnServerEnd(pid_t server);
  std::vector<int> connections() const;
  // Executes a line of the control program, which `uid` has sent. Returns the answer.
  std::string Execute(const std::string& line, uid_t uid);
  // Returns whether a user may change settings of the daemon and end it: root, and its own user.
  bool IsAdministrator(uid_t uid) const;

 private:
  struct Client {
    int connection;
    pid_t pid;
    uid_t uid;
    pid_t server = 0;  // 0: the client waits
    bool said_bye = false;
    GpuSet gpus = {};  // GPUs on which it has made contexts
    bool hit = false;  // a fault has taken its contexts away
  };
  struct Server {
    uid_t uid;
    double percentage;   // percentage of the threads that each of its clients may use
    bool fault = false;  // it takes no new clients until those that it has are gone
    bool hits = false;   // the fault has hit clients, and ends when these are gone
  };
  using Clients = std::list<Client>;

  void Serve();
  std::map<pid_t, Server>::iterator ServerOf(uid_t uid);
  char RefusalOf(uid_t uid);
  bool Busy(pid_t server) const;
  bool FaultIsOver(pid_t server, const Server& of) const;
  void Heed(Client* client, const std::string& message);
  int Hit(pid_t server, const std::string& gpu);
  // A Command answers one command from the words after its name.
  using Command = std::string (Servers::*)(std::istringstream& words, uid_t uid);
  static Command Find(const std::string& name);
  std::string ListServers(std::istringstream& words, uid_t uid);
  std::string ListClients(std::istringstream& words, uid_t uid);
  std::string TerminateClient(std::istringstream& words, uid_t uid);
  std::string TellStatus(std::istringstream& words, uid_t uid);
  std::string StartByCommand(std::istringstream& words, uid_t uid);
  std::string TellDefault(std::istringstream& words, uid_t uid);
  std::string SetDefault(std::istringstream& words, uid_t uid);
  std::string TellPercentage(std::istringstream& words, uid_t uid);
  std::string SetPercentage(std::istringstream& words, uid_t uid);
  std::string SetFault(std::istringstream& words, uid_t uid);
  std::string EndFault(std::istringstream& words, uid_t uid);
  std::string SetStarts(std::istringstream& words, uid_t uid);
  pid_t ServerFor(uid_t uid);
  pid_t StartServer(uid_t uid);
  void EndClientsOf(pid_t server);
  void Drop(Clients::iterator client, bool tell);

  const Settings settings_;
  Clients clients_;
  double percentage_;  // percentage of a server that starts from now on
  std::map<pid_t, Server> servers_;
  bool starts_ = true;  // false: no server can start
};

}  // namespace simgpu::mps
