#include "cli/cluster/kubectl.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/kube/json.h"
#include "common/process/run.h"

namespace crossover::cli {
namespace {

constexpr std::chrono::seconds kPatience{60};
constexpr std::size_t kMost = std::size_t{512} << 20;  // pods of a large cluster

// The last line that says something.
std::string LastLine(const std::string& text) {
  const std::size_t end = text.find_last_not_of(" \n");
  if (end == std::string::npos) return "";
  const std::size_t newline = text.rfind('\n', end);
  const std::size_t begin = newline == std::string::npos ? 0 : newline + 1;
  return text.substr(begin, end - begin + 1);
}

void Append(std::vector<std::string>* all, std::vector<std::string> more) {
  for (std::string& one : more) all->push_back(std::move(one));
}

std::vector<std::string> WordsOfExec(const std::string& name_space, const std::string& pod,
                                     const std::string& container, std::vector<std::string> command) {
  std::vector<std::string> words = {"exec", "--namespace", name_space, pod, "--container", container, "--"};
  Append(&words, std::move(command));
  return words;
}

}  // namespace

std::optional<std::string> Kubectl::Run(std::vector<std::string> command, std::string* error) const {
  std::vector<std::string> whole = {program_};
  Append(&whole, flags_);
  Append(&whole, std::move(command));
  auto outcome = process::Run(whole, {}, "", kPatience, {.most = kMost, .errors = true});
  if (!outcome) {
    *error = program_ + ": cannot be started, or does not end within a minute";
    return std::nullopt;
  }
  if (outcome->status != 0) {
    const std::string said = LastLine(outcome->errors);
    *error = said.empty() ? program_ + " ended with " + std::to_string(outcome->status) : said;
    return std::nullopt;
  }
  return std::move(outcome->output);
}

std::optional<nlohmann::json> Kubectl::List(std::vector<std::string> what, std::string* error) const {
  std::vector<std::string> command = {"get"};
  Append(&command, std::move(what));
  Append(&command, {"--output", "json"});
  const auto text = Run(std::move(command), error);
  if (!text) return std::nullopt;
  const auto object = nlohmann::json::parse(*text, nullptr, false);
  const nlohmann::json& items = kube::At(object, "items");
  if (items.is_array()) return items;
  *error = program_ + ": its answer is no list";
  return std::nullopt;
}

std::optional<std::string> Kubectl::Exec(const std::string& name_space, const std::string& pod,
                                         const std::string& container, std::vector<std::string> command,
                                         std::string* error) const {
  return Run(WordsOfExec(name_space, pod, container, std::move(command)), error);
}

std::string Kubectl::BecomeExec(const std::string& name_space, const std::string& pod,
                                const std::string& container, std::vector<std::string> command) const {
  std::vector<std::string> whole = {program_};
  Append(&whole, flags_);
  Append(&whole, WordsOfExec(name_space, pod, container, std::move(command)));
  std::vector<char*> words;
  for (std::string& word : whole) words.push_back(word.data());
  words.push_back(nullptr);
  execvp(words.front(), words.data());
  return program_ + ": " + std::strerror(errno);
}

}  // namespace crossover::cli
