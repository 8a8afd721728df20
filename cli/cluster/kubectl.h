// Asks a cluster through kubectl, with the rights of whoever calls: nothing of ours listens for this.
#pragma once

#include <chrono>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace crossover::cli {

class Kubectl {
 public:
  // `flags` stand before each command: --context, --kubeconfig, ...
  explicit Kubectl(std::vector<std::string> flags = {}, std::string program = "kubectl")
      : flags_(std::move(flags)), program_(std::move(program)) {}

  // What the command writes. Nothing, and `error` in one line, where it does not end well.
  std::optional<std::string> Run(std::vector<std::string> command, std::string* error) const;
  // The items that `get` finds; what is not there at all is an error.
  std::optional<nlohmann::json> List(std::vector<std::string> what, std::string* error) const;
  // Of a program in a container, likewise.
  std::optional<std::string> Exec(const std::string& name_space, const std::string& pod,
                                  const std::string& container, std::vector<std::string> command,
                                  std::string* error) const;
  // Becomes kubectl, so that what the program writes comes as it is written. Returns only where that fails.
  std::string BecomeExec(const std::string& name_space, const std::string& pod, const std::string& container,
                         std::vector<std::string> command) const;

 private:
  const std::vector<std::string> flags_;
  const std::string program_;
};

}  // namespace crossover::cli
