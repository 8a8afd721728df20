#include "cli/run/plan.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "common/base/fd.h"
#include "common/base/job_environment.h"
#include "common/base/refusal.h"

namespace crossover::cli {
namespace {

std::string AbsolutePath(const std::string& path) {
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.lexically_normal().string();
}

std::string Look(const Environment& environment, const std::string& name) {
  const auto it = environment.find(name);
  return it == environment.end() ? "" : it->second;
}

// Returns 0 if a daemon listens, or else the errno that says why this process cannot connect to one.
int WhyNotListening(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const base::UniqueFd fd(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) return 0;
  return errno == EAGAIN ? 0 : errno;  // its queue may be full
}

// Returns whether LD_PRELOAD can name the path: the dynamic linker splits it at spaces and colons and knows
// no quotes.
bool Preloadable(std::string_view path) { return path.find_first_of(" :") == std::string_view::npos; }

}  // namespace

std::optional<std::string> FindLibrary(const std::string& program_directory) {
  constexpr std::array kPlaces = {"/libcrossover.so", "/../lib/libcrossover.so",
                                  "/../lib/crossover/libcrossover.so"};
  for (const char* place : kPlaces) {
    const std::string path = AbsolutePath(program_directory + place);
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return std::nullopt;
}

std::string Preload(const std::string& library, std::string_view present) {
  std::string result = library;
  while (!present.empty()) {
    const std::size_t end = std::min(present.find_first_of(" :"), present.size());
    const std::string_view item = present.substr(0, end);
    if (!item.empty() && item != library) result.append(":").append(item);
    present.remove_prefix(std::min(end + 1, present.size()));
  }
  return result;
}

std::variant<RunPlan, RunError> PlanRun(const RunOptions& options, const Environment& environment,
                                        const std::string& program_directory) {
  const struct {
    const char* name;
    const base::JobVariable& rule;
    const std::string& value;
    bool optional = true;
  } given[] = {{"--gang", base::kGang, options.gang, false},
               {"--size", base::kGangSize, options.size, false},
               {"--priority", base::kPriority, options.priority},
               {"--max-slowdown", base::kMaxSlowdown, options.max_slowdown},
               {"--gpu-memory", base::kGpuMemory, options.gpu_memory}};
  for (const auto& [name, rule, value, optional] : given) {
    if (optional && value.empty()) continue;
    if (!rule.allows(value.c_str())) return RunError{base::Refusal(name, rule.expected, value)};
  }
  if (options.command.empty())
    return RunError{"a command is missing: crossover run --gang NAME --size N -- COMMAND..."};

  std::string socket = options.socket.empty() ? Look(environment, "CROSSOVER_SOCKET") : options.socket;
  if (socket.empty()) socket = base::kDefaultSocket;
  socket = AbsolutePath(socket);
  if (!base::kSocket.allows(socket.c_str()))
    return RunError{base::Refusal(options.socket.empty() ? base::kSocket.name : "--socket",
                                  base::kSocket.expected, socket)};

  std::string library = options.library;
  if (library.empty()) {
    const auto found = FindLibrary(program_directory);
    if (!found) {
      return RunError{
          "libcrossover.so: expected beside this program, or in ../lib or ../lib/crossover from there, got "
          "none that this user can read: name the library with --library PATH"};
    }
    library = *found;
  }
  library = AbsolutePath(library);
  if (access(library.c_str(), R_OK) != 0 || !Preloadable(library)) {
    return RunError{
        base::Refusal("--library", "a readable file, without spaces and colons in its path", library)};
  }

  RunPlan plan;
  plan.environment = {{"CROSSOVER_GANG", options.gang},
                      {"CROSSOVER_GANG_SIZE", options.size},
                      {"CROSSOVER_SOCKET", socket},
                      {"LD_PRELOAD", Preload(library, Look(environment, "LD_PRELOAD"))}};
  if (!options.priority.empty()) plan.environment["CROSSOVER_TURN_PRIORITY"] = options.priority;
  if (!options.max_slowdown.empty()) plan.environment["CROSSOVER_MAX_SLOWDOWN"] = options.max_slowdown;
  if (!options.gpu_memory.empty()) plan.environment["CROSSOVER_GPU_MEMORY"] = options.gpu_memory;
  if (const int why = WhyNotListening(socket); why == EACCES || why == EPERM) {
    plan.warnings.push_back(socket +
                            ": this user may not connect to the daemon: run crossover doctor; until "
                            "then the job runs without taking turns");
  } else if (why != 0) {
    plan.warnings.push_back("no daemon listens on " + socket + ": " + std::strerror(why) +
                            ": start the daemon; until then the job runs without taking turns");
  }
  return plan;
}

}  // namespace crossover::cli
