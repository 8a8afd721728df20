// Talks to NVIDIA's MPS control daemon through its client program. The control daemon is a separate
// process, outside of this container. MpsControl finds out whether the daemon runs and which clients it
// serves. It can also terminate a client without harm to the other clients.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/process/run.h"

namespace crossover::deviceplugin {

// Returns the process IDs in `lines`, one per line. Skips lines that are not process IDs. Pure.
std::vector<pid_t> ParsePids(std::string_view lines);

inline constexpr int kMpsProtocol = 2;  // the protocol with the commands that MpsControl sends

// An MpsOptions holds what a control daemon was started to do.
struct MpsOptions {
  bool multi_user = false;      // it serves all users at the same time
  int protocol = kMpsProtocol;  // 3 has other commands

  friend bool operator==(const MpsOptions&, const MpsOptions&) = default;
};
// Reads the options of a control daemon from the arguments and the environment of its process. A zero byte
// ends each entry, as in /proc/PID/cmdline and /proc/PID/environ. An option that is not known changes
// nothing. Pure.
MpsOptions ReadMpsOptions(std::string_view arguments, std::string_view environment);

class MpsControl {
 public:
  struct Settings {
    std::string pipe_directory;  // the control daemon's CUDA_MPS_PIPE_DIRECTORY
    std::string program = "nvidia-cuda-mps-control";
  };

  explicit MpsControl(Settings settings) : settings_(std::move(settings)) {}

  struct State {
    bool alive = false;  // the control daemon runs
    MpsOptions options{};
  };
  // Returns the state of the control daemon, from its PID file and /proc. Does not run the client program.
  State Look() const;

  struct Server {
    pid_t pid = 0;
    uid_t uid = 0;
    char state = 'S';  // of the process, as /proc/PID/stat has it
  };
  // The functions below run the client program for at most two seconds. They return nullopt, or false, if
  // the control daemon does not answer.
  //
  // Servers() leaves out processes that have ended. It sets `odd`, unless null, to the first line of the
  // answer that is not a process ID, or to "".
  std::optional<std::vector<Server>> Servers(std::string* odd = nullptr) const;
  // Returns what the control daemon says of the server, in its own words, whatever the program's exit
  // status is: an older one may not know the command.
  std::optional<std::string> Status(pid_t server) const;
  // Asks the control daemon for a server of the user. Whether it starts shows in Servers().
  bool StartServer(uid_t uid) const;
  std::optional<std::vector<pid_t>> Clients(pid_t server) const;
  // Terminates the client. A true result only says that the program succeeded; Clients() shows whether the
  // client is gone.
  bool Terminate(pid_t server, pid_t client) const;

 private:
  std::optional<process::Outcome> Run(const std::string& command) const;
  std::optional<std::string> Ask(const std::string& command) const;

  const Settings settings_;
};

}  // namespace crossover::deviceplugin
