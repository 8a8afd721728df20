#include "cli/doctor/checks.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/doctor/daemon_checks.h"
#include "common/base/job_environment.h"
#include "common/base/mps_pipe.h"
#include "common/base/refusal.h"

namespace crossover::cli {
namespace {

Finding Ok(std::string seen) {
  return {.name = "", .verdict = Verdict::kOk, .seen = std::move(seen), .advice = ""};
}
Finding Bad(Verdict verdict, std::string seen, std::string advice) {
  return {.name = "", .verdict = verdict, .seen = std::move(seen), .advice = std::move(advice)};
}

std::string Octal(unsigned mode) {
  std::array<char, 16> text;
  std::snprintf(text.data(), text.size(), "%04o", mode);
  return text.data();
}

const char* Value(const Facts& facts, const char* name) {
  const auto found = facts.environment.find(name);
  return found == facts.environment.end() ? nullptr : found->second.c_str();
}

constexpr char kStartIt[] =
    "start the daemon: crossover-deviceplugin --standalone --config FILE, or in Kubernetes the DaemonSet "
    "crossover-deviceplugin; if it runs, name its sockets with --arbiter-socket and --socket";

bool Denied(const SocketFacts& socket) {
  return socket.connect_errno == EACCES || socket.connect_errno == EPERM;
}

Finding ArbiterSocket(const Facts& facts) {
  const SocketFacts& socket = facts.arbiter;
  if (socket.connect_errno == 0) return Ok(socket.path + ": a process listens there");
  if (Denied(socket)) {
    return Bad(Verdict::kUnknown,
               socket.path +
                   ": this user may not connect, so it is not known whether a daemon listens (see "
                   "arbiter_permissions)",
               "");
  }
  if (!socket.exists)
    return Bad(Verdict::kFail, socket.path + ": expected the socket of the daemon, got no file", kStartIt);
  if (!socket.is_socket) {
    return Bad(Verdict::kFail, socket.path + ": expected a socket, got another kind of file",
               "name the daemon's socket for jobs with --arbiter-socket or CROSSOVER_SOCKET; if this is "
               "socket.path of the daemon's configuration, remove the file, or set another path there");
  }
  return Bad(Verdict::kFail, socket.path + ": " + std::strerror(socket.connect_errno),
             socket.connect_errno == ECONNREFUSED
                 ? std::string("the daemon that made the socket has ended: ") + kStartIt
                 : "name the daemon's socket for jobs, which is socket.path of its configuration, with "
                   "--arbiter-socket or CROSSOVER_SOCKET");
}

Finding ArbiterPermissions(const Facts& facts) {
  const SocketFacts& socket = facts.arbiter;
  const std::string who = "user " + std::to_string(facts.user);
  if (Denied(socket)) {
    return Bad(Verdict::kFail,
               who + " may not connect to " + socket.path +
                   (socket.exists ? " (mode " + Octal(socket.mode) + ")" : ", nor look at the file"),
               "set socket.mode and socket.group in the daemon's configuration; the user must also be able "
               "to enter the folders above the socket");
  }
  if (socket.connect_errno != 0) return Bad(Verdict::kUnknown, "no daemon to connect to", "");
  return Ok(who + " may connect");
}

Finding ApiSocket(const Facts& facts) {
  const SocketFacts& socket = facts.api;
  if (socket.connect_errno == 0 && facts.daemon == nullptr) {
    return Bad(Verdict::kWarn,
               socket.path + ": a process listens there, but it did not answer as a node daemon",
               "run crossover top, which says what came in place of an answer");
  }
  if (socket.connect_errno == 0) return Ok(socket.path + ": the daemon answers");
  if (Denied(socket)) {
    return Bad(Verdict::kUnknown,
               socket.path + ": user " + std::to_string(facts.user) + " may not ask the daemon",
               "run the doctor as root to see what the daemon knows");
  }
  if (facts.arbiter.connect_errno != 0)
    return Bad(Verdict::kFail, socket.path + ": no daemon answers", kStartIt);
  return Bad(Verdict::kWarn,
             socket.path + ": no daemon answers, although one listens on " + facts.arbiter.path,
             "look at api.socket in the daemon's configuration: set it if it is off, or name its path with "
             "--socket");
}

Finding Library(const Facts& facts) {
  if (facts.library.path.empty()) {
    return Bad(
        Verdict::kFail,
        "libcrossover.so: expected beside this program, or in ../lib or ../lib/crossover from there, got "
        "none that this user can read",
        "install the library in one of these places, or name it with --library, here and for "
        "crossover run");
  }
  if (facts.library.readable) return Ok(facts.library.path);
  return Bad(Verdict::kFail, facts.library.path + ": expected a file that this user can read, got none",
             "name the library with --library, or make the file readable for the users who run jobs");
}

Finding LibraryFits(const Facts& facts) {
  const LibraryFacts& library = facts.library;
  if (!library.readable) return Bad(Verdict::kUnknown, "no library to look at", "");
  if (!library.file.is_elf)
    return Bad(Verdict::kFail, library.path + ": expected an ELF file, got another kind of file",
               "name libcrossover.so with --library, or install the library again");
  if (library.file.elf_class == library.own.elf_class && library.file.machine == library.own.machine) {
    return Ok("made for this kind of machine");
  }
  return Bad(Verdict::kFail,
             library.path + ": ELF class " + std::to_string(library.file.elf_class) + " and machine " +
                 std::to_string(library.file.machine) + ", while this program has " +
                 std::to_string(library.own.elf_class) + " and " + std::to_string(library.own.machine),
             "install the library of this machine's architecture");
}

Finding LibraryLoads(const Facts& facts) {
  const LibraryFacts& library = facts.library;
  if (!library.readable) return Bad(Verdict::kUnknown, "no library to look at", "");
  if (!library.tried)
    return Bad(Verdict::kUnknown, "no process could be started with the library, so this check knows nothing",
               "");
  if (library.complaint.empty()) return Ok("a process starts with it preloaded");
  return Bad(Verdict::kFail, library.complaint,
             "install what the message names, or install the portable library: until then jobs run without "
             "the library, or do not start");
}

// Returns whether the library takes an empty value as if the variable were not set.
bool CountsAsUnset(const base::JobVariable& variable) {
  return &variable == &base::kGang || &variable == &base::kGpuMemory;
}

Finding Environment(const Facts& facts) {
  if (!facts.unreadable_preloads.empty()) {
    return Bad(Verdict::kFail,
               "LD_PRELOAD names " + facts.unreadable_preloads.front() + ", which cannot be read",
               "name only files in LD_PRELOAD that this user can read");
  }
  for (const base::JobVariable* variable : base::kJobVariables) {
    const char* value = Value(facts, variable->name);
    if (value == nullptr || variable->allows(value)) continue;
    if (value[0] == '\0' && CountsAsUnset(*variable)) continue;
    return Bad(Verdict::kFail, base::Refusal(variable->name, variable->expected, base::Shown(value)),
               std::string("set the variable to an expected value") +
                   (variable == &base::kGang ? "" : ", or remove it") +
                   ": until then jobs of this environment take no turns, and no limit of their GPU memory "
                   "holds");
  }
  const char* gang = Value(facts, base::kGang.name);
  if (gang == nullptr || gang[0] == '\0')
    return Ok("this is not the environment of a job, and each CROSSOVER_ variable has an expected value");
  const char* preload = Value(facts, "LD_PRELOAD");
  if (preload != nullptr && std::strstr(preload, "libcrossover") != nullptr)
    return Ok("this is the environment of a job with the library");
  return Bad(Verdict::kWarn,
             std::string(base::kGang.name) + " is set, but LD_PRELOAD names no libcrossover.so",
             "start the job with crossover run");
}

Finding Disabled(const Facts& facts) {
  if (!base::IsOn(Value(facts, "CROSSOVER_DISABLE"))) return Ok("CROSSOVER_DISABLE is unset, empty or 0");
  return Bad(Verdict::kWarn, std::string("CROSSOVER_DISABLE=") + Value(facts, "CROSSOVER_DISABLE"),
             "jobs of this environment take no turns: if they must take turns, remove the variable");
}

Finding LaunchBlocking(const Facts& facts) {
  if (!base::IsOn(Value(facts, "CUDA_LAUNCH_BLOCKING")))
    return Ok("CUDA_LAUNCH_BLOCKING is unset, empty or 0");
  return Bad(Verdict::kWarn, std::string("CUDA_LAUNCH_BLOCKING=") + Value(facts, "CUDA_LAUNCH_BLOCKING"),
             "remove the variable: it makes every launch wait, so jobs of this environment are only watched "
             "and take no turns");
}

Finding OneConnection(const Facts& facts) {
  const char* value = Value(facts, "CUDA_DEVICE_MAX_CONNECTIONS");
  if (!base::IsOneConnection(value)) return Ok("CUDA_DEVICE_MAX_CONNECTIONS is not 1");
  return Bad(Verdict::kWarn, std::string("CUDA_DEVICE_MAX_CONNECTIONS=") + value,
             "jobs of this environment are only watched, because the end of a turn could wait for a "
             "collective: if the framework does not need the variable, remove it");
}

Finding Driver(const Facts& facts) {
  if (facts.driver.loaded) {
    const int version = facts.driver.version;
    return Ok("libcuda.so.1, CUDA " + std::to_string(version / 1000) + "." +
              std::to_string(version % 1000 / 10));
  }
  return Bad(
      Verdict::kWarn, "libcuda.so.1 cannot be loaded here: " + facts.driver.error,
      "install the NVIDIA driver, without which no job can use a GPU; if the machine has it and this is "
      "the daemon's container, set driver.runtimeClassName or driver.root of the chart");
}

Finding Mps(const Facts& facts) {
  if (!facts.mps.fault.empty()) {
    return Bad(Verdict::kFail, facts.mps.fault,
               "if its server is in FAULT, end the jobs that report CUDA errors; for the other reasons see "
               "docs/operations.md#crossovermpstakesnoclients; a node that shares through MPS gives out no "
               "slots until MPS takes clients again");
  }
  if (!facts.mps.unasked.empty()) {
    return Bad(Verdict::kWarn, "the node daemon cannot ask MPS: " + facts.mps.unasked,
               "set node.mps_control to the client program of MPS, and look whether the driver is in the "
               "daemon's container: until then slots are given out, but the daemon notices no fault of MPS");
  }
  if (facts.mps.connect_errno == 0) return Ok(facts.mps.control + ": the control daemon listens");
  if (!base::IsNoMps(facts.mps.connect_errno)) {
    return Bad(Verdict::kUnknown,
               facts.mps.control + ": cannot be connected to: " + std::strerror(facts.mps.connect_errno),
               facts.mps.connect_errno == EACCES || facts.mps.connect_errno == EPERM
                   ? "run the doctor as root, or as the user of a job"
                   : "repair what the message names, and run the doctor again");
  }
  return Bad(Verdict::kWarn,
             facts.mps.control + ": no MPS control daemon: " + std::strerror(facts.mps.connect_errno),
             "start nvidia-cuda-mps-control -d, or in Kubernetes set mps.enabled=true of the chart: without "
             "MPS, kernels of two processes never run at the same time, so sharing gains nothing "
             "(docs/design/0004-time-slices.md)");
}

// Returns a size in GiB, or in MiB if it is less than 2 GiB. A size over 1 GiB does not look like 1 GiB then.
std::string SizeInWords(std::uint64_t bytes) {
  constexpr std::uint64_t kMebi = 1u << 20, kGibi = 1u << 30;
  return bytes < 2 * kGibi ? std::to_string(bytes / kMebi) + " MiB" : std::to_string(bytes / kGibi) + " GiB";
}

Finding MpsShm(const Facts& facts) {
  constexpr std::uint64_t kTooSmall = 1u << 30;
  constexpr std::uint64_t kLittle = 10;  // percent
  const std::uint64_t size = facts.mps.shm_bytes, left = facts.mps.shm_free_bytes;
  if (size == 0) return Ok("no /dev/shm is known that pods share under MPS");
  const std::string seen = "pods under MPS share a common /dev/shm of " + SizeInWords(size) + ", " +
                           std::to_string(left * 100 / size) + "% of it free";
  if (left < size / 100 * kLittle) {
    return Bad(Verdict::kWarn, seen,
               "end the jobs that made large files in this /dev/shm: when it is full, data loaders and NCCL "
               "end with SIGBUS; the daemon removes files of killed pods once no pod under MPS is on the "
               "node (docs/operations.md#crossovermpsshmfull)");
  }
  if (size > kTooSmall) return Ok(seen);
  return Bad(
      Verdict::kWarn, seen,
      "/dev/shm: expected more than 1024 MiB, because ordinary data loaders fill that much: raise "
      "mps.shmSize of the chart; after the jobs of this node have ended, delete the pod crossover-mps, "
      "so that the next pod makes /dev/shm of that size");
}

Finding Memfd(const Facts& facts) {
  if (facts.kernel.memfd_error.empty()) return Ok("sealed shared memory can be made");
  return Bad(
      Verdict::kFail, facts.kernel.memfd_error,
      "use kernel 3.17 or later, set vm.memfd_noexec to 0 or 1 (2 refuses these memfds), and look at the "
      "seccomp filter under which the daemon runs: the daemon keeps the turns in sealed memfds");
}

Finding RobustFutex(const Facts& facts) {
  if (facts.kernel.robust_futex) return Ok("robust futexes work");
  return Bad(
      Verdict::kWarn, "get_robust_list: expected the kernel to allow it here, got refused",
      "look at the seccomp filter under which jobs run, which may refuse set_robust_list, too: without that "
      "call the daemon notices a killed job only when the kernel has freed its memory, which may take "
      "hundreds of "
      "milliseconds");
}

Finding Pidfd(const Facts& facts) {
  if (facts.kernel.peer_pidfd) return Ok("SO_PEERPIDFD works");
  const std::string seen =
      "SO_PEERPIDFD: expected in kernel 6.5 and later, got kernel " + facts.kernel.release + " without it";
  if (facts.kernel.robust_futex) return Ok(seen + "; robust futexes do the same work");
  return Bad(
      Verdict::kWarn, seen,
      "use kernel 6.5 or later, or let the seccomp filter under which jobs run permit set_robust_list: until "
      "then the daemon may not notice a killed job whose children still run");
}

Finding Membarrier(const Facts& facts) {
  if (facts.kernel.membarrier) return Ok("membarrier works");
  return Bad(Verdict::kWarn,
             "membarrier: expected MEMBARRIER_CMD_PRIVATE_EXPEDITED from the kernel, got none",
             "use kernel 4.14 or later, and look at the seccomp filter under which jobs run: without "
             "membarrier a turn in which nothing runs cannot be given back early");
}

struct Check {
  const char* name;
  Finding (*judge)(const Facts& facts);
};

constexpr Check kChecks[] = {
    {"arbiter_socket", ArbiterSocket},
    {"arbiter_permissions", ArbiterPermissions},
    {"api_socket", ApiSocket},
    {"library", Library},
    {"library_fits", LibraryFits},
    {"library_loads", LibraryLoads},
    {"environment", Environment},
    {"disabled", Disabled},
    {"launch_blocking", LaunchBlocking},
    {"one_connection", OneConnection},
    {"driver", Driver},
    {"mps", Mps},
    {"mps_shm", MpsShm},
    {"memfd", Memfd},
    {"robust_futex", RobustFutex},
    {"pidfd", Pidfd},
    {"membarrier", Membarrier},
    {"mode", DaemonMode},
    {"turns", JobsTakeTurns},
    {"periods", JobsHavePeriods},
    {"offenders", Offenders},
    {"openings", WatchdogOpenings},
    {"faults", ClientFaults},
    {"restarts", DaemonRestarts},
    {"events", DroppedEvents},
};

}  // namespace

std::vector<Finding> Examine(const Facts& facts) {
  std::vector<Finding> findings;
  for (const Check& check : kChecks) {
    findings.push_back(check.judge(facts));
    findings.back().name = check.name;
  }
  return findings;
}

}  // namespace crossover::cli
