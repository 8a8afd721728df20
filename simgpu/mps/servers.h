// The servers of a control daemon and their clients: who waits, who is served. A server is a process of its
// user's; without --multi-user there is one at a time, and clients of others wait until it has no client.
#pragma once

#include <sys/types.h>

#include <list>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace simgpu::mps {

// A percentage of active threads from its text: a whole number from 1 to 100. 0: it is none.
int ReadPercentage(const std::string& text);

class Servers {
 public:
  // `strict`: a client that ends without a word, killed say, takes the others of its server along.
  // `percentage`: of the threads, that clients of the servers to come may use; a whole number from 1 to 100.
  Servers(bool multi_user, bool strict, int percentage)
      : multi_user_(multi_user), strict_(strict), percentage_(percentage) {}
  ~Servers();

  // Owns the connection from here on.
  void AddClient(int connection, pid_t pid, uid_t uid);
  // The connection can be read: its client says bye, or is gone.
  void OnReadable(int connection);
  void OnServerEnd(pid_t server);
  std::vector<int> connections() const;
  // The answer to a line of the control program.
  std::string Execute(const std::string& line);

 private:
  struct Client {
    int connection;
    pid_t pid;
    uid_t uid;
    pid_t server = 0;  // 0: it waits
    bool said_bye = false;
  };
  struct Server {
    uid_t uid;
    int percentage;  // active threads of its clients
  };
  using Clients = std::list<Client>;

  void Serve();
  pid_t ServerFor(uid_t uid);
  pid_t StartServer(uid_t uid);
  void EndClientsOf(pid_t server);
  std::string SetPercentage(std::istringstream& words, bool of_server);
  void Drop(Clients::iterator client, bool tell);

  const bool multi_user_;
  const bool strict_;
  Clients clients_;
  int percentage_;  // of a server that starts from now on
  std::map<pid_t, Server> servers_;
};

}  // namespace simgpu::mps
