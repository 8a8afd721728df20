#include "deviceplugin/mps/control.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <sstream>

#include "common/base/mps_pipe.h"
#include "common/files/read_file.h"
#include "common/process/run.h"
#include "common/text/number.h"

namespace crossover::deviceplugin {
namespace {

constexpr std::chrono::seconds kPatienceToStart{10};
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

// Returns whether a process has the name of the control daemon and belongs to `owner`. A process ID from the
// directory of MPS must be checked with this, because clients of MPS can write there.
bool IsControlDaemon(pid_t pid, uid_t owner) {
  return pid > 0 && ReadOf(pid, "comm").compare(0, kName.size(), kName) == 0 &&
         UidIn(ReadOf(pid, "status")) == owner;
}

bool HasEnded(char state) { return state == 'Z' || state == 'X'; }

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

// Returns the entries of `text`. A zero byte ends each of them, but may lack behind the last one.
std::vector<std::string_view> Entries(std::string_view text) {
  std::vector<std::string_view> entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\0'), text.size());
    entries.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return entries;
}

// Sets `protocol` to the number in `word`. Returns false and changes nothing if it is not a number.
bool ReadProtocol(std::string_view word, int* protocol) {
  const auto number =
      text::ParseInteger(word, std::numeric_limits<int>::min(), std::numeric_limits<int>::max());
  if (number) *protocol = static_cast<int>(*number);
  return number.has_value();
}

// Returns what follows `prefix` in `text`, or nothing if `text` does not begin with it.
std::optional<std::string_view> After(std::string_view prefix, std::string_view text) {
  if (!text.starts_with(prefix)) return std::nullopt;
  return text.substr(prefix.size());
}

}  // namespace

// Looks for two texts: the control daemons of drivers 535 to 555 answer "Unknown command", with the command
// in quotes; others answer "Unrecognized command".
bool MpsAnswer::unrecognized() const {
  return text.find("Unknown command") != std::string::npos ||
         text.find("nrecognized command") != std::string::npos;
}

std::string MpsAnswer::Fault() const {
  switch (kind) {
    case Kind::kNotStarted:
      return "the client program of MPS cannot be run";
    case Kind::kFailed:
      return "the client program of MPS ends with status " + std::to_string(status);
    case Kind::kLate:
      return "the control daemon of MPS does not answer";
    case Kind::kText:
      break;
  }
  return "";
}

MpsOptions ReadMpsOptions(std::string_view arguments, std::string_view environment) {
  MpsOptions options;
  bool knows_protocols = false;
  const std::vector<std::string_view> words = Entries(arguments);
  for (std::size_t i = 1; i < words.size(); ++i) {  // the first one is the program
    const std::string_view word = words[i];
    options.multi_user |= std::find(kMultiUser.begin(), kMultiUser.end(), word) != kMultiUser.end();
    if ((word == "-p" || word == "--protocol") && i + 1 < words.size())
      knows_protocols |= ReadProtocol(words[i + 1], &options.protocol);
    for (const std::string_view prefix : {"-p", "--protocol="}) {
      if (const auto number = After(prefix, word))
        knows_protocols |= ReadProtocol(*number, &options.protocol);
    }
  }
  for (const std::string_view entry :
       Entries(environment)) {  // the environment takes precedence over the arguments
    const auto number = After(kProtocolVariable, entry);
    if (number && ReadProtocol(*number, &options.protocol)) options.sure = knows_protocols;
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

pid_t MpsControl::Process() const {
  std::string why;
  const std::string file = settings_.pipe_directory + kPidFile;
  const auto pids = ParsePids(files::ReadFileOfOthers(file, kLongestPidFile, &why).value_or(""));
  if (!pids.empty() && IsControlDaemon(pids.front(), settings_.owner)) return pids.front();
  const pid_t known = by_socket_.load(std::memory_order_relaxed);
  if (IsControlDaemon(known, settings_.owner)) return known;
  const pid_t owner = base::OwnerOfMpsPipe(settings_.pipe_directory.c_str());
  by_socket_.store(owner, std::memory_order_relaxed);
  return IsControlDaemon(owner, settings_.owner) ? owner : 0;
}

MpsControl::State MpsControl::Look() const {
  const pid_t pid = Process();
  if (pid == 0) return {};
  return {
      .alive = true, .pid = pid, .options = ReadMpsOptions(ReadOf(pid, "cmdline"), ReadOf(pid, "environ"))};
}

MpsAnswer MpsControl::Ask(const std::string& command, std::chrono::seconds patience) const {
  process::NoOutcome why{};
  const auto outcome = process::Run({settings_.program}, {{base::kMpsPipeVariable, settings_.pipe_directory}},
                                    command + "\n", patience, {}, &why);
  if (outcome) {
    return {.kind = outcome->status == 0 ? MpsAnswer::Kind::kText : MpsAnswer::Kind::kFailed,
            .status = outcome->status,
            .text = outcome->output};
  }
  return {.kind = why == process::NoOutcome::kLate ? MpsAnswer::Kind::kLate : MpsAnswer::Kind::kNotStarted};
}

MpsControl::List MpsControl::Servers() const {
  List list{.answer = Ask("get_server_list")};
  if (!list.answer.given()) return list;
  list.odd = FirstOddLine(list.answer.text);
  for (const pid_t pid : ParsePids(list.answer.text)) {
    const auto uid = UidIn(ReadOf(pid, "status"));
    const char state = StateIn(ReadOf(pid, "stat"));
    if (uid && !HasEnded(state)) list.servers.push_back({pid, *uid, state});
  }
  return list;
}

MpsAnswer MpsControl::Status(pid_t server) const {
  return Ask("get_server_status " + std::to_string(server));
}

bool MpsControl::Lives(pid_t server) { return !HasEnded(StateIn(ReadOf(server, "stat"))); }

MpsAnswer MpsControl::StartServer(uid_t uid) const {
  return Ask("start_server -uid " + std::to_string(uid), kPatienceToStart);
}

std::optional<std::vector<pid_t>> MpsControl::Clients(pid_t server) const {
  const MpsAnswer answer = Ask("get_client_list " + std::to_string(server));
  if (!answer.given()) return std::nullopt;
  return ParsePids(answer.text);
}

bool MpsControl::Terminate(pid_t server, pid_t client) const {
  return Ask("terminate_client " + std::to_string(server) + " " + std::to_string(client)).given();
}

}  // namespace crossover::deviceplugin
