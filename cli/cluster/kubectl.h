// Asks a cluster through kubectl, with the rights of whoever calls: nothing of ours listens for this.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/process/run.h"

namespace crossover::cli {

// kubectl's words for a program in a container.
std::vector<std::string> ExecWords(const std::string& name_space, const std::string& pod,
                                   const std::string& container, std::vector<std::string> command);

class Kubectl {
 public:
  // `flags` stand before each command: --context, --kubeconfig, ...
  explicit Kubectl(std::vector<std::string> flags = {}, std::string program = "kubectl")
      : flags_(std::move(flags)), program_(std::move(program)) {}

  // What the command writes. Nothing, and `error` in one line, where it does not end well.
  std::optional<std::string> Run(std::vector<std::string> command, std::string* error) const;
  // Likewise; where it writes nothing, the error in its place. What it writes counts however it ends: a
  // doctor that finds something ends with 1.
  std::string Said(std::vector<std::string> command) const;
  // The items that `get` finds; what is not there at all is an error.
  std::optional<nlohmann::json> List(std::vector<std::string> what, std::string* error) const;
  // Of a program in a container, likewise.
  std::optional<std::string> Exec(const std::string& name_space, const std::string& pod,
                                  const std::string& container, std::vector<std::string> command,
                                  std::string* error) const;
  // Gives each line that the program writes to `take` as it comes, until the program ends or `take` returns
  // false. Its exit status, or the number of the signal that ended it and 128; 1 and why where it cannot be
  // started. Where other threads run it is not safe.
  int FollowExec(const std::string& name_space, const std::string& pod, const std::string& container,
                 std::vector<std::string> command, const std::function<bool(const std::string& line)>& take,
                 std::string* error) const;
  // Becomes kubectl, so that what the program writes comes as it is written. Returns only where that fails.
  std::string BecomeExec(const std::string& name_space, const std::string& pod, const std::string& container,
                         std::vector<std::string> command) const;

 private:
  std::vector<std::string> Whole(std::vector<std::string> command) const;
  // Until it has ended. Nothing, and why, where it does not.
  std::optional<process::Outcome> Await(std::vector<std::string> command, std::string* error) const;

  const std::vector<std::string> flags_;
  const std::string program_;
};

}  // namespace crossover::cli
