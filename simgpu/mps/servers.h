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

namespace simgpu::mps {

// Parses a percentage of active threads: a whole number from 1 to 100. Returns 0 if the text is not such a
// number.
int ReadPercentage(const std::string& text);

class Servers {
 public:
  // With `strict`, a client that ends without kBye, for example because it was killed, ends the other
  // clients of its server too, and one that reports a fault of its own hits them. `percentage` is the part of
  // the threads that clients of later servers may use, a whole number from 1 to 100. With `other_commands`,
  // none of the commands below is known.
  Servers(bool multi_user, bool strict, int percentage, bool other_commands)
      : multi_user_(multi_user), strict_(strict), other_commands_(other_commands), percentage_(percentage) {}
  ~Servers();

  // Adds a client, which waits until it has a server, or refuses it. Takes ownership of the connection.
  void AddClient(int connection, pid_t pid, uid_t uid);
  // Handles a connection that can be read: its client says kBye, or it is gone.
  void OnReadable(int connection);
  // Handles the end of a server process: ends its clients and serves those that wait.
  void OnServerEnd(pid_t server);
  std::vector<int> connections() const;
  // Executes a line of the control program. Returns the answer.
  std::string Execute(const std::string& line);

 private:
  struct Client {
    int connection;
    pid_t pid;
    uid_t uid;
    pid_t server = 0;  // 0: the client waits
    bool said_bye = false;
  };
  struct Server {
    uid_t uid;
    int percentage;      // percentage of the threads that each of its clients may use
    bool fault = false;  // it takes no new clients until those that it has are gone
  };
  using Clients = std::list<Client>;

  void Serve();
  std::map<pid_t, Server>::iterator ServerOf(uid_t uid);
  char RefusalOf(uid_t uid);
  bool Busy(pid_t server) const;
  void Hit(pid_t server);
  std::string SetFault(std::istringstream& words, bool fault);
  std::string SetStarts(std::istringstream& words);
  std::string StatusOf(std::istringstream& words) const;
  std::string StartByCommand(std::istringstream& words);
  pid_t ServerFor(uid_t uid);
  pid_t StartServer(uid_t uid);
  void EndClientsOf(pid_t server);
  std::string SetPercentage(std::istringstream& words, bool of_server);
  void Drop(Clients::iterator client, bool tell);

  const bool multi_user_;
  const bool strict_;
  const bool other_commands_;
  Clients clients_;
  int percentage_;  // percentage of a server that starts from now on
  std::map<pid_t, Server> servers_;
  bool starts_ = true;  // false: no server can start
};

}  // namespace simgpu::mps
