#include "deviceplugin/signaller/keeper.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/base/refusal.h"
#include "common/base/timespec.h"
#include "common/logging/log.h"
#include "common/process/run.h"
#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/signaller/driver.h"
#include "deviceplugin/signaller/places.h"

namespace crossover::signaller {
namespace {

// A driver that is not loaded yet takes some seconds for that.
constexpr auto kListPatience = std::chrono::seconds(60);
constexpr turn::Time kListAgain = 10 * base::kNsPerSecond;
constexpr char kSelf[] = "/proc/self/exe";

// Returns the signals that end the keeper or tell it that a signaller has ended. They stay blocked.
sigset_t AwaitedSignals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&set, signal);
  return set;
}

std::optional<std::vector<std::string>> ReadGpus(const Options& options, std::string* error) {
  const auto outcome = process::Run({kSelf, "--list-gpus", "--no-mps", options.no_mps}, {}, "", kListPatience,
                                    {process::kMostOutput, true});
  if (!outcome) {
    *error = base::Refusal("--list-gpus", "an answer within 60 s", "none");
    return std::nullopt;
  }
  if (outcome->status != 0) {
    *error = outcome->errors.substr(0, outcome->errors.find('\n'));
    return std::nullopt;
  }
  std::vector<std::string> gpus;
  std::istringstream lines(outcome->output);
  for (std::string line; std::getline(lines, line);) {
    if (!arbiter::ValidGpuUuid(line)) {
      *error = base::Refusal("--list-gpus", "UUIDs of GPUs", base::Shown(line));
      return std::nullopt;
    }
    gpus.push_back(line);
  }
  if (gpus.empty()) {
    *error = base::Refusal("--list-gpus", "a GPU", "none");
    return std::nullopt;
  }
  return gpus;
}

// Returns the process of a new signaller, or 0.
pid_t Start(const Options& options, const std::string& gpu) {
  const pid_t keeper = getpid();
  const pid_t pid = fork();
  if (pid != 0) return pid < 0 ? 0 : pid;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) _exit(1);  // the keeper has died already
  const sigset_t set = AwaitedSignals();
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
  execl(kSelf, "crossover-signaller", "--gpu", gpu.c_str(), "--socket", options.socket.c_str(), "--no-mps",
        options.no_mps.c_str(), nullptr);
  _exit(127);
}

std::string HowItEnded(int status) {
  return WIFSIGNALED(status) ? "signal " + std::to_string(WTERMSIG(status))
                             : "status " + std::to_string(WEXITSTATUS(status));
}

class Keeper {
 public:
  explicit Keeper(const Options& options) : options_(options), places_(options.count) {}

  int Run() {
    const sigset_t set = AwaitedSignals();
    sigprocmask(SIG_BLOCK, &set, nullptr);
    for (;;) {
      const turn::Time now = base::MonotonicNs();
      StartDue(now);  // first: a driver may let the list wait
      if (list_ && now >= list_at_) List(now);
      StartDue(now);
      const int signal = Await(set);
      if (signal == SIGTERM || signal == SIGINT) return End();
      if (signal == SIGCHLD) Reap();
    }
  }

 private:
  void StartDue(turn::Time now) {
    while (Place* place = places_.Due(now)) {
      places_.Started(place, Start(options_, place->gpu), now);
      if (place->pid == 0)
        logging::Warn("a signaller of " + place->gpu + " cannot be started; it is tried again");
    }
  }

  void List(turn::Time now) {
    std::string error;
    const auto gpus = ReadGpus(options_, &error);
    list_ = !gpus.has_value();
    list_at_ = now + kListAgain;
    if (gpus) places_.SetGpus(*gpus, now);
    if (error != said_)
      logging::Write(gpus ? logging::Level::kInfo : logging::Level::kWarn,
                     gpus ? "the GPUs are known" : "the GPUs are not known: " + error);
    said_ = error;
  }

  // Waits for one of the signals until something is due. Returns it, or -1.
  int Await(const sigset_t& set) const {
    std::optional<turn::Time> next = places_.next();
    if (list_) next = std::min(next.value_or(list_at_), list_at_);
    if (!next) return sigwaitinfo(&set, nullptr);
    const timespec left = base::TimespecOf(std::max<turn::Time>(*next - base::MonotonicNs(), 0));
    return sigtimedwait(&set, nullptr, &left);
  }

  void Reap() {
    int status = 0;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;) {
      const turn::Time now = base::MonotonicNs();
      const Place* place = places_.Ended(pid, now);
      if (place == nullptr) continue;
      logging::Warn("a signaller of " + place->gpu + " has ended with " + HowItEnded(status) +
                    "; it is started again in " + std::to_string(place->pause / base::kNsPerSecond) + " s");
      list_ = true;
      list_at_ = place->due;
    }
  }

  int End() {
    for (const Place& place : places_.all()) {
      if (place.pid != 0) kill(place.pid, SIGTERM);
    }
    while (waitpid(-1, nullptr, 0) > 0) {
    }
    return 0;
  }

  const Options& options_;
  Places places_;
  bool list_ = true;  // the GPUs must be listed
  turn::Time list_at_ = 0;
  std::string said_;  // why the last list failed
};

}  // namespace

int Keep(const Options& options) { return Keeper(options).Run(); }

bool ListGpus(const Options& options, std::string* error) {
  Driver driver;
  std::vector<std::string> gpus;
  if (!LoadDriver(&driver, error) || !ReadUuids(driver, options.no_mps, &gpus, error)) return false;
  for (const std::string& gpu : gpus) std::puts(gpu.c_str());
  return std::fflush(stdout) == 0;
}

}  // namespace crossover::signaller
