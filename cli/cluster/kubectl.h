// Asks a cluster through kubectl, with the rights of the user. No program of ours listens for this.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/process/run.h"

namespace crossover::cli {

// Returns kubectl's arguments to run a program in a container.
std::vector<std::string> ExecWords(const std::string& name_space, const std::string& pod,
                                   const std::string& container, std::vector<std::string> command);

// A Kubectl runs kubectl. Thread-safe, except FollowExec.
class Kubectl {
 public:
  // `flags` come before each command, such as --context.
  explicit Kubectl(std::vector<std::string> flags = {}, std::string program = "kubectl")
      : flags_(std::move(flags)), program_(std::move(program)) {}

  // Returns the output of the command. Returns nothing, and one line in `error`, if the command fails.
  std::optional<std::string> Run(std::vector<std::string> command, std::string* error) const;
  // Returns the output of the command, or its error if it prints nothing. The output counts even if the
  // command fails: a doctor that finds something exits with 1.
  std::string Said(std::vector<std::string> command) const;
  // Returns the items that `get` lists. An unknown kind of object is an error.
  std::optional<nlohmann::json> List(std::vector<std::string> what, std::string* error) const;
  // Runs a program in a container and returns its output, as Run does.
  std::optional<std::string> Exec(const std::string& name_space, const std::string& pod,
                                  const std::string& container, std::vector<std::string> command,
                                  std::string* error) const;
  // Runs a program in a container and calls `take` with each line of its output when the line comes, until
  // the program ends or `take` returns false. Returns the exit status, or 128 plus the signal that ended it.
  // Returns 1, with the reason in `error`, if it cannot start. Not safe while other threads run, because it
  // forks.
  int FollowExec(const std::string& name_space, const std::string& pod, const std::string& container,
                 std::vector<std::string> command, const std::function<bool(const std::string& line)>& take,
                 std::string* error) const;
  // Replaces this process by kubectl, so the program's output comes as it is written. Returns the reason if
  // that fails; else it does not return.
  std::string BecomeExec(const std::string& name_space, const std::string& pod, const std::string& container,
                         std::vector<std::string> command) const;

 private:
  std::vector<std::string> Whole(std::vector<std::string> command) const;
  // Runs the command to its end. Returns nothing, with the reason in `error`, if it cannot start or does
  // not end.
  std::optional<process::Outcome> Await(std::vector<std::string> command, std::string* error) const;

  const std::vector<std::string> flags_;
  const std::string program_;
};

}  // namespace crossover::cli
