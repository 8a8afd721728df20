#include "deviceplugin/mps/control.h"

#include <charconv>

#include "common/files/read_file.h"
#include "common/process/run.h"

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

}  // namespace

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
  // This holds the arguments of the process. A zero byte comes before and after each one.
  const std::string arguments = std::string(1, '\0') + ReadOf(pids.front(), "cmdline");
  using std::string_literals::operator""s;
  const bool multi_user = arguments.find("\0-M\0"s) != std::string::npos ||
                          arguments.find("\0--multiuser-server\0"s) != std::string::npos;
  return {.alive = true, .multi_user = multi_user};
}

std::optional<std::string> MpsControl::Ask(const std::string& command) const {
  const auto outcome =
      process::Run({settings_.program}, {{"CUDA_MPS_PIPE_DIRECTORY", settings_.pipe_directory}},
                   command + "\n", kPatience);
  if (!outcome || outcome->status != 0) return std::nullopt;
  return outcome->output;
}

std::optional<std::vector<MpsControl::Server>> MpsControl::Servers() const {
  const auto lines = Ask("get_server_list");
  if (!lines) return std::nullopt;
  std::vector<Server> servers;
  for (const pid_t pid : ParsePids(*lines)) {
    if (const auto uid = UidIn(ReadOf(pid, "status"))) servers.push_back({pid, *uid});
  }
  return servers;
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
