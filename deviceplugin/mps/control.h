// Talks to NVIDIA's MPS control daemon through its client program. The control daemon is a separate
// process, outside of this container. MpsControl finds out whether the daemon runs and which clients it
// serves. It can also terminate a client without harm to the other clients.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crossover::deviceplugin {

// Returns the process IDs in `lines`, one per line. Skips lines that are not process IDs. Pure.
std::vector<pid_t> ParsePids(std::string_view lines);

inline constexpr int kMpsProtocol = 2;  // the protocol with the commands that MpsControl sends

// MpsOptions holds the options with which a control daemon was started.
struct MpsOptions {
  bool multi_user = false;      // MPS serves all users at the same time
  int protocol = kMpsProtocol;  // 3 has other commands
  bool sure = true;  // false: only the environment names the protocol, and older daemons ignore that variable

  friend bool operator==(const MpsOptions&, const MpsOptions&) = default;
};
// Reads the options of a control daemon from the arguments and the environment of its process. A zero byte
// ends each entry, as in /proc/PID/cmdline and /proc/PID/environ. Ignores options that it does not know.
// Pure.
MpsOptions ReadMpsOptions(std::string_view arguments, std::string_view environment);

// An MpsAnswer is the outcome of one command for a control daemon.
struct MpsAnswer {
  enum class Kind : std::uint8_t {
    kText,        // the client program succeeded and printed `text`; it also succeeds for commands that fail
    kFailed,      // the client program failed
    kNotStarted,  // the client program could not be run
    kLate         // the client program did not end in time: the control daemon does not answer
  };
  Kind kind = Kind::kNotStarted;
  int status = 0;      // exit status, with kFailed
  std::string text{};  // output, with kText or kFailed

  bool given() const { return kind == Kind::kText; }
  // Returns whether the control daemon says that it has no such command.
  bool unrecognized() const;
  // Returns what went wrong, in words, or "".
  std::string Fault() const;
};

class MpsControl {
 public:
  struct Settings {
    std::string pipe_directory;  // the control daemon's CUDA_MPS_PIPE_DIRECTORY
    std::string program = "nvidia-cuda-mps-control";
    uid_t owner = 0;  // user of the control daemon's process
  };

  explicit MpsControl(Settings settings) : settings_(std::move(settings)) {}

  struct State {
    bool alive = false;  // the control daemon runs
    pid_t pid = 0;       // its process
    MpsOptions options{};
  };
  // Returns the state of the control daemon, from /proc. Finds its process by its PID file, or by its socket:
  // drivers before 550 write no such file. Does not run the client program. Thread-safe.
  State Look() const;

  struct Server {
    pid_t pid = 0;
    uid_t uid = 0;
    char state = 'S';  // state of its process, as in /proc/PID/stat
  };
  // A List holds the servers that have not ended.
  struct List {
    MpsAnswer answer{};
    std::vector<Server> servers{};
    std::string odd{};  // the first line of the answer that is not a process ID, or ""
  };
  // The functions below, except Lives(), run the client program, for at most two seconds unless they say
  // otherwise. Those that return nullopt, or false, do so if they get no answer.
  List Servers() const;
  // Returns the control daemon's answer about the status of the server.
  MpsAnswer Status(pid_t server) const;
  // Returns whether the server's process exists and has not ended.
  static bool Lives(pid_t server);
  // Asks the control daemon to start a server for the user, and waits for up to ten seconds, because it may
  // answer only when the server has started. Servers() then shows whether it has.
  MpsAnswer StartServer(uid_t uid) const;
  std::optional<std::vector<pid_t>> Clients(pid_t server) const;
  // Terminates the client. Returns whether the client program succeeded, which does not say that the client
  // is gone: Clients() shows that.
  bool Terminate(pid_t server, pid_t client) const;

 private:
  // Returns the control daemon's process, or 0 if there is none.
  pid_t Process() const;
  static constexpr std::chrono::seconds kPatience{2};
  MpsAnswer Ask(const std::string& command, std::chrono::seconds patience = kPatience) const;

  const Settings settings_;
  // Holds the process that owned the socket last. Asking the socket again adds a line to the control daemon's
  // log.
  mutable std::atomic<pid_t> by_socket_{0};
};

}  // namespace crossover::deviceplugin
