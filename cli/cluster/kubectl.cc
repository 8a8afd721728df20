#include "cli/cluster/kubectl.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/base/fd.h"
#include "common/kube/json.h"

namespace crossover::cli {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::size_t kMost = std::size_t{512} << 20;  // bytes; for the pods of a large cluster

// Returns the last line with text. Skips kubectl's own line about the failure of a program in a container:
// the line of the program before it says more.
std::string LastLine(std::string text) {
  std::string line;
  for (std::size_t end; (end = text.find_last_not_of(" \n")) != std::string::npos;) {
    const std::size_t newline = text.rfind('\n', end);
    const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
    line = text.substr(begin, end - begin + 1);
    if (!line.starts_with("command terminated with exit code ")) break;
    text.resize(begin);
  }
  return line;
}

void Append(std::vector<std::string>* all, std::vector<std::string> more) {
  for (std::string& one : more) all->push_back(std::move(one));
}

int StatusOf(int status) { return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status); }

// Calls `take` with each line until the end. Returns false if `take` returned false before that.
bool ForEachLine(base::UniqueFd from, const std::function<bool(const std::string& line)>& take) {
  std::FILE* stream = fdopen(from.get(), "r");
  if (stream == nullptr) return false;
  from.Release();
  char* line = nullptr;
  std::size_t room = 0;
  bool more = true;
  for (ssize_t size; more && (size = getline(&line, &room, stream)) >= 0;) {
    std::string text(line, static_cast<std::size_t>(size));
    if (text.ends_with('\n')) text.pop_back();
    more = take(text);
  }
  std::free(line);
  std::fclose(stream);
  return more;
}

}  // namespace

std::vector<std::string> ExecWords(const std::string& name_space, const std::string& pod,
                                   const std::string& container, std::vector<std::string> command) {
  std::vector<std::string> words = {"exec", "--namespace", name_space, pod, "--container", container, "--"};
  Append(&words, std::move(command));
  return words;
}

std::vector<std::string> Kubectl::Whole(std::vector<std::string> command) const {
  std::vector<std::string> whole = {program_};
  Append(&whole, flags_);
  Append(&whole, std::move(command));
  return whole;
}

std::optional<process::Outcome> Kubectl::Await(std::vector<std::string> command, std::string* error) const {
  process::NoOutcome why{};
  auto outcome =
      process::Run(Whole(std::move(command)), {}, "", kPatience, {.most = kMost, .errors = true}, &why);
  if (!outcome) {
    *error = program_ + (why == process::NoOutcome::kLate
                             ? ": does not end within a minute: look whether the API server answers"
                             : ": cannot be started: look whether it is on the PATH");
  }
  if (outcome && outcome->status != 0) {
    *error = LastLine(outcome->errors);
    if (error->empty())
      *error =
          program_ + ": expected exit status 0, got " + std::to_string(outcome->status) + " and no message";
  }
  return outcome;
}

std::optional<std::string> Kubectl::Run(std::vector<std::string> command, std::string* error) const {
  auto outcome = Await(std::move(command), error);
  if (!outcome || outcome->status != 0) return std::nullopt;
  return std::move(outcome->output);
}

std::string Kubectl::Said(std::vector<std::string> command) const {
  std::string error;
  auto outcome = Await(std::move(command), &error);
  if (outcome && !outcome->output.empty()) return std::move(outcome->output);
  return error.empty() ? "" : error + "\n";
}

std::optional<nlohmann::json> Kubectl::List(std::vector<std::string> what, std::string* error) const {
  std::vector<std::string> command = {"get"};
  const std::string kind = what.front();
  Append(&command, std::move(what));
  Append(&command, {"--output", "json"});
  const auto text = Run(std::move(command), error);
  if (!text) return std::nullopt;
  const auto object = nlohmann::json::parse(*text, nullptr, false);
  const nlohmann::json& items = kube::At(object, "items");
  if (items.is_array()) return items;
  *error = program_ + " get " + kind + ": expected a list in JSON, got another answer";
  return std::nullopt;
}

std::optional<std::string> Kubectl::Exec(const std::string& name_space, const std::string& pod,
                                         const std::string& container, std::vector<std::string> command,
                                         std::string* error) const {
  return Run(ExecWords(name_space, pod, container, std::move(command)), error);
}

int Kubectl::FollowExec(const std::string& name_space, const std::string& pod, const std::string& container,
                        std::vector<std::string> command,
                        const std::function<bool(const std::string& line)>& take, std::string* error) const {
  const auto fail = [&] {
    *error = program_ + ": " + std::strerror(errno);
    return 1;
  };
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail();
  base::UniqueFd from(ends[0]), into(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return fail();
  if (pid == 0) {
    dup2(into.get(), STDOUT_FILENO);
    std::fprintf(stderr, "%s\n", BecomeExec(name_space, pod, container, std::move(command)).c_str());
    _exit(1);
  }
  into.Reset();
  if (!ForEachLine(std::move(from), take)) kill(pid, SIGTERM);
  int status = 0;
  waitpid(pid, &status, 0);
  return StatusOf(status);
}

std::string Kubectl::BecomeExec(const std::string& name_space, const std::string& pod,
                                const std::string& container, std::vector<std::string> command) const {
  std::vector<std::string> whole = Whole(ExecWords(name_space, pod, container, std::move(command)));
  std::vector<char*> words;
  for (std::string& word : whole) words.push_back(word.data());
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  return program_ + ": " + std::strerror(errno);
}

}  // namespace crossover::cli
