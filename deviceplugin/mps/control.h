// NVIDIA's control daemon of MPS, which runs elsewhere, as its own program speaks to it: whether it is there,
// whom it serves, and the end of a client that is to go without harm to its neighbours.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace crossover::deviceplugin {

// Lines that are no process ids are left out. Pure.
std::vector<pid_t> ParsePids(std::string_view lines);

class MpsControl {
 public:
  struct Settings {
    std::string pipe_directory;  // CUDA_MPS_PIPE_DIRECTORY of the daemon
    std::string program = "nvidia-cuda-mps-control";
  };

  explicit MpsControl(Settings settings) : settings_(std::move(settings)) {}

  struct State {
    bool alive = false;       // the control daemon runs
    bool multi_user = false;  // and serves all users at once
  };
  // Asks nobody: by the daemon's own file and /proc.
  State Look() const;

  struct Server {
    pid_t pid = 0;
    uid_t uid = 0;
  };
  // These run the program, for two seconds at most. Nothing where it does not answer.
  std::optional<std::vector<Server>> Servers() const;
  std::optional<std::vector<pid_t>> Clients(pid_t server) const;
  bool Terminate(pid_t server, pid_t client) const;

 private:
  std::optional<std::string> Ask(const std::string& command) const;

  const Settings settings_;
};

}  // namespace crossover::deviceplugin
