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

constexpr char kStartIt[] = "start it: crossover-deviceplugin --standalone --config FILE";

bool Denied(const SocketFacts& socket) {
  return socket.connect_errno == EACCES || socket.connect_errno == EPERM;
}

Finding ArbiterSocket(const Facts& facts) {
  const SocketFacts& socket = facts.arbiter;
  if (socket.connect_errno == 0) return Ok(socket.path + ": the daemon answers");
  if (Denied(socket)) return Ok(socket.path + ": there, and not for this user (see arbiter_permissions)");
  if (!socket.exists) return Bad(Verdict::kFail, socket.path + ": does not exist", kStartIt);
  if (!socket.is_socket) {
    return Bad(Verdict::kFail, socket.path + ": is not a socket",
               "remove it, or name another one (socket.path)");
  }
  return Bad(Verdict::kFail, socket.path + ": " + std::strerror(socket.connect_errno),
             std::string("the daemon that made it is gone: ") + kStartIt);
}

Finding ArbiterPermissions(const Facts& facts) {
  const SocketFacts& socket = facts.arbiter;
  const std::string who = "user " + std::to_string(facts.user);
  if (Denied(socket)) {
    return Bad(Verdict::kFail,
               who + " may not connect to " + socket.path + " (mode " + Octal(socket.mode) + ")",
               "socket.mode and socket.group of the daemon's configuration say who may; the folders above it "
               "count too");
  }
  if (socket.connect_errno != 0) return Bad(Verdict::kUnknown, "no daemon to connect to", "");
  return Ok(who + " may connect");
}

Finding ApiSocket(const Facts& facts) {
  const SocketFacts& socket = facts.api;
  if (socket.connect_errno == 0) return Ok(socket.path + ": the daemon answers");
  if (Denied(socket)) {
    return Bad(Verdict::kUnknown,
               socket.path + ": user " + std::to_string(facts.user) + " may not ask the daemon",
               "run the doctor as root to see what the daemon knows");
  }
  if (facts.arbiter.connect_errno != 0)
    return Bad(Verdict::kFail, socket.path + ": no daemon answers", kStartIt);
  return Bad(Verdict::kWarn, socket.path + ": no daemon answers, although the daemon runs",
             "its API is off or elsewhere: see api.socket in its configuration, and name it with --socket");
}

Finding Library(const Facts& facts) {
  if (facts.library.path.empty()) {
    return Bad(Verdict::kFail, "libcrossover.so is neither beside this program nor in ../lib",
               "install it there, or name it: crossover run --library PATH");
  }
  if (facts.library.readable) return Ok(facts.library.path);
  return Bad(Verdict::kFail, facts.library.path + ": cannot be read",
             "make it readable for the users who run jobs");
}

Finding LibraryFits(const Facts& facts) {
  const LibraryFacts& library = facts.library;
  if (!library.readable) return Bad(Verdict::kUnknown, "no library to look at", "");
  if (!library.file.is_elf)
    return Bad(Verdict::kFail, library.path + ": is not an ELF file", "install it anew");
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
  if (!library.tried) return Bad(Verdict::kUnknown, "no process could be started with it", "");
  if (library.complaint.empty()) return Ok("a process starts with it preloaded");
  return Bad(
      Verdict::kFail, library.complaint,
      "where a preload does not load, jobs run without it: install what is missing, or the portable library");
}

Finding Environment(const Facts& facts) {
  if (!facts.unreadable_preloads.empty()) {
    return Bad(Verdict::kFail,
               "LD_PRELOAD names " + facts.unreadable_preloads.front() + ", which cannot be read",
               "name files that are there");
  }
  for (const base::JobVariable* variable : base::kJobVariables) {
    const char* value = Value(facts, variable->name);
    if (value == nullptr || variable->allows(value)) continue;
    return Bad(Verdict::kFail, base::Refusal(variable->name, variable->expected, base::Shown(value)),
               "jobs of this environment run without turns until it is mended");
  }
  if (Value(facts, base::kGang.name) == nullptr)
    return Ok("not the environment of a job, nothing wrong in it");
  const char* preload = Value(facts, "LD_PRELOAD");
  if (preload != nullptr && std::strstr(preload, "libcrossover") != nullptr)
    return Ok("that of a job that takes turns");
  return Bad(Verdict::kWarn,
             std::string(base::kGang.name) + " is set, and LD_PRELOAD names no libcrossover.so",
             "start the job with crossover run");
}

Finding Disabled(const Facts& facts) {
  if (!base::IsOn(Value(facts, "CROSSOVER_DISABLE"))) return Ok("CROSSOVER_DISABLE is not set");
  return Bad(Verdict::kWarn, std::string("CROSSOVER_DISABLE=") + Value(facts, "CROSSOVER_DISABLE"),
             "jobs of this environment take no turns; unset it where they should");
}

Finding LaunchBlocking(const Facts& facts) {
  if (!base::IsOn(Value(facts, "CUDA_LAUNCH_BLOCKING"))) return Ok("CUDA_LAUNCH_BLOCKING is not set");
  return Bad(Verdict::kWarn, std::string("CUDA_LAUNCH_BLOCKING=") + Value(facts, "CUDA_LAUNCH_BLOCKING"),
             "every launch waits then, so jobs of this environment are only watched; unset it");
}

Finding OneConnection(const Facts& facts) {
  const char* value = Value(facts, "CUDA_DEVICE_MAX_CONNECTIONS");
  if (!base::IsOneConnection(value)) return Ok("CUDA_DEVICE_MAX_CONNECTIONS is not 1");
  return Bad(
      Verdict::kWarn, std::string("CUDA_DEVICE_MAX_CONNECTIONS=") + value,
      "the end of a turn could wait for a collective then, so jobs of this environment are only watched; "
      "unset it where the framework does not need it");
}

Finding Driver(const Facts& facts) {
  if (facts.driver.loaded) {
    const int version = facts.driver.version;
    return Ok("libcuda.so.1, CUDA " + std::to_string(version / 1000) + "." +
              std::to_string(version % 1000 / 10));
  }
  return Bad(Verdict::kWarn, "no NVIDIA driver: " + facts.driver.error,
             "without libcuda.so.1 no job uses a GPU here, so there is nothing to take turns on; install the "
             "driver");
}

Finding Mps(const Facts& facts) {
  if (!facts.mps.fault.empty()) {
    return Bad(
        Verdict::kFail, facts.mps.fault,
        "nothing is given out until it takes clients again: end the jobs that a fault hit; what hangs or "
        "cannot start says why in the control daemon's log");
  }
  if (!facts.mps.unasked.empty()) {
    return Bad(
        Verdict::kWarn, "the node daemon cannot ask MPS: " + facts.mps.unasked,
        "slots are given out all the same, and a fault of MPS is not noticed: see node.mps_control and "
        "the driver in the daemon's container");
  }
  if (facts.mps.connect_errno == 0) return Ok(facts.mps.control + ": the control daemon listens");
  if (!base::IsNoMps(facts.mps.connect_errno)) {
    return Bad(Verdict::kUnknown,
               facts.mps.control + ": cannot be connected to: " + std::strerror(facts.mps.connect_errno),
               "run the doctor as a user who may, or as one of the jobs");
  }
  return Bad(Verdict::kWarn,
             facts.mps.control + ": no MPS control daemon: " + std::strerror(facts.mps.connect_errno),
             "without MPS kernels of two processes never run at once, and two jobs are as fast as one after "
             "the other, no "
             "faster (docs/design/0004-time-slices.md); start nvidia-cuda-mps-control -d");
}

Finding MpsShm(const Facts& facts) {
  constexpr std::uint64_t kTooSmall = 1u << 30, kGibi = 1u << 30;
  constexpr std::uint64_t kLittle = 10;  // percent
  const std::uint64_t size = facts.mps.shm_bytes, left = facts.mps.shm_free_bytes;
  if (size == 0) return Ok("pods have no common /dev/shm that is known here");
  const std::string seen = "pods under MPS have a common /dev/shm of " + std::to_string(size / kGibi) +
                           " GiB, " + std::to_string(left * 100 / size) + "% of it free";
  if (left < size / 100 * kLittle) {
    return Bad(
        Verdict::kWarn, seen,
        "where it is full, data loaders and NCCL end with SIGBUS: see which files in it are large, and "
        "end the jobs that made them; what killed pods left is removed once no pod under MPS is there");
  }
  if (size > kTooSmall) return Ok(seen);
  return Bad(
      Verdict::kWarn, seen,
      "ordinary data loaders fill that: after the jobs of this node, delete its pod of MPS, so that the "
      "next one makes it as large as mps.shmSize says");
}

Finding Memfd(const Facts& facts) {
  if (facts.kernel.memfd_error.empty()) return Ok("sealed shared memory can be made");
  return Bad(
      Verdict::kFail, facts.kernel.memfd_error,
      "the daemon keeps turns in sealed memfds: a kernel from 3.17 on makes them; see vm.memfd_noexec too");
}

Finding RobustFutex(const Facts& facts) {
  if (facts.kernel.robust_futex) return Ok("robust futexes work");
  return Bad(Verdict::kWarn, "set_robust_list is refused",
             "a killed job is noticed by its connection alone, up to hundreds of milliseconds late");
}

Finding Pidfd(const Facts& facts) {
  if (facts.kernel.peer_pidfd) return Ok("SO_PEERPIDFD works");
  const std::string seen = "no SO_PEERPIDFD in kernel " + facts.kernel.release + " (it came with 6.5)";
  if (facts.kernel.robust_futex) return Ok(seen + ", and robust futexes do as well");
  return Bad(Verdict::kWarn, seen, "a killed job whose children live on is not noticed; use a newer kernel");
}

Finding Membarrier(const Facts& facts) {
  if (facts.kernel.membarrier) return Ok("membarrier works");
  return Bad(Verdict::kWarn, "membarrier is refused",
             "a turn in which nothing runs cannot be given back early; kernels from 4.14 on have it");
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
