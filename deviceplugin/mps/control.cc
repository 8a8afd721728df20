#include "deviceplugin/mps/control.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <sstream>

#include "common/files/read_file.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::seconds kPatience{2};
constexpr char kPidFile[] = "/nvidia-cuda-mps-control.pid";
constexpr std::size_t kLongestPidFile = 64;
constexpr std::string_view kName = "nvidia-cuda-mps";  // the kernel cuts names at 15 characters

std::string ReadOf(pid_t pid, const char* file) { return files::ReadOfProcess(pid, file).value_or(""); }

// Returns the real UID from the text of /proc/PID/status: the first number after "Uid:".
std::optional<uid_t> UidIn(const std::string& status) {
  constexpr std::string_view kKey = "\nUid:\t";
  const std::size_t at = status.find(kKey);
  if (at == std::string::npos) return std::nullopt;
  uid_t uid = 0;
  const char* begin = status.data() + at + kKey.size();
  if (std::from_chars(begin, status.data() + status.size(), uid).ec != std::errc()) return std::nullopt;
  return uid;
}

// Returns the state of a process from the text of /proc/PID/stat, or X if there is none. The state follows
// the name, which ends with the last parenthesis.
char StateIn(const std::string& stat) {
  const std::size_t at = stat.rfind(") ");
  return at == std::string::npos || at + 2 >= stat.size() ? 'X' : stat[at + 2];
}

// Returns the first of the lines that is neither empty nor a process ID, or "".
std::string FirstOddLine(const std::string& lines) {
  std::istringstream all(lines);
  for (std::string line; std::getline(all, line);) {
    if (!line.empty() && ParsePids(line).empty()) return line;
  }
  return "";
}

// The spellings of the option that makes one server serve all users. Drivers of CUDA 12 take the first one
// alone, those of CUDA 13 take -M too, and the last two belong to protocol 3.
constexpr std::array<std::string_view, 5> kMultiUser = {"-multiuser-server", "--multiuser-server", "-M", "-m",
                                                        "--multiuser"};
constexpr std::string_view kProtocolVariable = "CUDA_MPS_PROTOCOL_VERSION=";

// Returns the entries of `text`, each of which ends with a zero byte. The last one may lack it.
std::vector<std::string_view> Entries(std::string_view text) {
  std::vector<std::string_view> entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    entries.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

// Sets `protocol` to the number in `text`. A text that is not a number changes nothing.
void ReadProtocol(std::string_view text, int* protocol) {
  int number = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
  if (parsed.ec == std::errc() && parsed.ptr == text.data() + text.size()) *protocol = number;
}

// Returns what follows `prefix` in `text`, or nothing if `text` does not begin with it.
std::optional<std::string_view> After(std::string_view prefix, std::string_view text) {
  if (text.substr(0, prefix.size()) != prefix) return std::nullopt;
  return text.substr(prefix.size());
}

}  // namespace

MpsOptions ReadMpsOptions(std::string_view arguments, std::string_view environment) {
  MpsOptions options;
  const std::vector<std::string_view> words = Entries(arguments);
  for (std::size_t i = 1; i < words.size(); ++i) {  // the first one is the program
    const std::string_view word = words[i];
    options.multi_user |= std::find(kMultiUser.begin(), kMultiUser.end(), word) != kMultiUser.end();
    if ((word == "-p" || word == "--protocol") && i + 1 < words.size())
      ReadProtocol(words[i + 1], &options.protocol);
    for (const std::string_view prefix : {"-p", "--protocol="}) {
      if (const auto number = After(prefix, word)) ReadProtocol(*number, &options.protocol);
    }
  }
  for (const std::string_view entry : Entries(environment)) {  // it takes precedence over the arguments
    if (const auto number = After(kProtocolVariable, entry)) ReadProtocol(*number, &options.protocol);
  }
  return options;
}

std::vector<pid_t> ParsePids(std::string_view lines) {
  std::vector<pid_t> pids;
  while (!lines.empty()) {
    const std::size_t feed = lines.find('\n');
    const std::string_view line = lines.substr(0, feed);
    lines = feed == std::string_view::npos ? "" : lines.substr(feed + 1);
    pid_t pid = 0;
    const auto parsed = std::from_chars(line.data(), line.data() + line.size(), pid);
    if (parsed.ec == std::errc() && parsed.ptr == line.data() + line.size() && pid > 0) pids.push_back(pid);
  }
  return pids;
}

MpsControl::State MpsControl::Look() const {
  // Clients of MPS can write to the directory. The PID in the file therefore counts only if that process has
  // the daemon's name and belongs to root.
  std::string why;
  const std::string file = settings_.pipe_directory + kPidFile;
  const auto pids = ParsePids(files::ReadFileOfOthers(file, kLongestPidFile, &why).value_or(""));
  if (pids.empty() || ReadOf(pids.front(), "comm").compare(0, kName.size(), kName) != 0 ||
      UidIn(ReadOf(pids.front(), "status")).value_or(1) != 0)
    return {};
  const pid_t pid = pids.front();
  return {.alive = true, .options = ReadMpsOptions(ReadOf(pid, "cmdline"), ReadOf(pid, "environ"))};
}

std::optional<process::Outcome> MpsControl::Run(const std::string& command) const {
  return process::Run({settings_.program}, {{"CUDA_MPS_PIPE_DIRECTORY", settings_.pipe_directory}},
                      command + "\n", kPatience);
}

std::optional<std::string> MpsControl::Ask(const std::string& command) const {
  const auto outcome = Run(command);
  if (!outcome || outcome->status != 0) return std::nullopt;
  return outcome->output;
}

std::optional<std::vector<MpsControl::Server>> MpsControl::Servers(std::string* odd) const {
  const auto lines = Ask("get_server_list");
  if (!lines) return std::nullopt;
  if (odd != nullptr) *odd = FirstOddLine(*lines);
  std::vector<Server> servers;
  for (const pid_t pid : ParsePids(*lines)) {
    const auto uid = UidIn(ReadOf(pid, "status"));
    const char state = StateIn(ReadOf(pid, "stat"));
    if (uid && state != 'Z' && state != 'X') servers.push_back({pid, *uid, state});
  }
  return servers;
}

std::optional<std::string> MpsControl::Status(pid_t server) const {
  const auto outcome = Run("get_server_status " + std::to_string(server));
  if (!outcome) return std::nullopt;
  return outcome->output;
}

bool MpsControl::StartServer(uid_t uid) const {
  return Ask("start_server -uid " + std::to_string(uid)).has_value();
}

std::optional<std::vector<pid_t>> MpsControl::Clients(pid_t server) const {
  const auto lines = Ask("get_client_list " + std::to_string(server));
  if (!lines) return std::nullopt;
  return ParsePids(*lines);
}

bool MpsControl::Terminate(pid_t server, pid_t client) const {
  return Ask("terminate_client " + std::to_string(server) + " " + std::to_string(client)).has_value();
}

}  // namespace crossover::deviceplugin
