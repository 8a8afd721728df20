#include "cli/doctor/probe.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

#include "cli/node/client.h"
#include "cli/run/self.h"
#include "common/base/fd.h"
#include "common/base/job_environment.h"
#include "common/base/mps_pipe.h"
#include "proto/crossover_node.pb.h"

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

namespace crossover::cli {
namespace {

SocketFacts LookAtSocket(const std::string& path, int type) {
  SocketFacts facts;
  facts.path = path;
  struct stat status {};
  if (stat(path.c_str(), &status) == 0) {
    facts.exists = true;
    facts.is_socket = S_ISSOCK(status.st_mode);
    facts.mode = status.st_mode & 07777;
    facts.owner = status.st_uid;
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    facts.connect_errno = ENAMETOOLONG;
    return facts;
  }
  path.copy(address.sun_path, sizeof(address.sun_path) - 1);
  const base::UniqueFd fd(socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 &&
      errno != EAGAIN) {
    facts.connect_errno = errno;
  }
  return facts;
}

ElfFacts ReadElf(const std::string& path) {
  Elf64_Ehdr header{};  // both ELF classes begin alike
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), offsetof(Elf64_Ehdr, e_version));
  ElfFacts facts;
  facts.is_elf = file.good() && std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0;
  facts.elf_class = header.e_ident[EI_CLASS];
  facts.machine = header.e_machine;
  return facts;
}

std::string ReadAll(int fd) {
  std::string text;
  std::array<char, 1024> buffer;
  for (ssize_t size; (size = read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(size));
  }
  return text;
}

// Returns the first line in which the dynamic linker complains about `library`, or "".
std::string LinkerComplaint(const std::string& said, const std::string& library) {
  std::istringstream lines(said);
  for (std::string line; std::getline(lines, line);) {
    if (line.find(library) != std::string::npos || line.find("ld.so") != std::string::npos) return line;
  }
  return "";
}

// Starts this program with the library preloaded, as a job would have it.
void TryLibrary(LibraryFacts* facts) {
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return;
  base::UniqueFd reading(ends[0]);
  base::UniqueFd writing(ends[1]);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, writing.get(), STDERR_FILENO);
  std::string preload = "LD_PRELOAD=" + facts->path;
  std::string disable = "CROSSOVER_DISABLE=1";
  std::string program = "/proc/self/exe";
  std::string argument = "--version";
  std::array<char*, 3> environment = {preload.data(), disable.data(), nullptr};
  std::array<char*, 3> arguments = {program.data(), argument.data(), nullptr};
  pid_t child = -1;
  const int error =
      posix_spawn(&child, program.c_str(), &actions, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return;
  writing.Reset();
  const std::string said = ReadAll(reading.get());
  int status = 0;
  waitpid(child, &status, 0);
  facts->tried = true;
  facts->complaint = LinkerComplaint(said, facts->path);
  if (facts->complaint.empty() && status != 0) {
    facts->complaint = "a process that preloads " + facts->path + " ends with " +
                       (WIFEXITED(status) ? "exit status " + std::to_string(WEXITSTATUS(status))
                                          : "signal " + std::to_string(WTERMSIG(status)));
  }
}

LibraryFacts LookAtLibrary(const std::string& named) {
  LibraryFacts facts;
  facts.path = named.empty() ? FindLibrary(ProgramDirectory()).value_or("") : named;
  if (facts.path.empty()) return facts;
  facts.readable = access(facts.path.c_str(), R_OK) == 0;
  if (!facts.readable) return facts;
  facts.file = ReadElf(facts.path);
  facts.own = ReadElf("/proc/self/exe");
  TryLibrary(&facts);
  return facts;
}

std::vector<std::string> UnreadablePreloads(const Environment& environment) {
  std::vector<std::string> unreadable;
  const auto found = environment.find("LD_PRELOAD");
  std::string text = found == environment.end() ? "" : found->second;
  for (char& c : text) c = c == ':' ? ' ' : c;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (word.find('/') != std::string::npos && access(word.c_str(), R_OK) != 0) unreadable.push_back(word);
  }
  return unreadable;
}

DriverFacts LookAtDriver() {
  DriverFacts facts;
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();
    facts.error = error == nullptr ? "libcuda.so.1 cannot be loaded" : error;
    return facts;
  }
  facts.loaded = true;
  using GetVersion = int (*)(int*);
  if (auto* get = reinterpret_cast<GetVersion>(dlsym(library, "cuDriverGetVersion")); get != nullptr) {
    get(&facts.version);
  }
  return facts;  // not unloaded: the driver may have started threads
}

MpsFacts LookAtMps(const std::string& pipe_directory) {
  MpsFacts facts;
  facts.control = pipe_directory + "/control";
  facts.connect_errno = base::TryMpsPipe(pipe_directory.c_str());
  return facts;
}

// Makes a sealed memfd as the daemon does. Returns "", or why that failed.
std::string TryMemfd() {
  constexpr std::size_t kSize = 4096;
  const auto failure = [](const char* what) { return std::string(what) + ": " + std::strerror(errno); };
  const base::UniqueFd fd(memfd_create("crossover-doctor", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd) return failure("memfd_create");
  if (ftruncate(fd.get(), kSize) != 0) return failure("sizing a memfd");
  if (fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return failure("sealing a memfd");
  void* memory = mmap(nullptr, kSize, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) return failure("mapping a memfd");
  munmap(memory, kSize);
  return "";
}

bool PeerPidfdWorks() {
  std::array<int, 2> ends;
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  const base::UniqueFd one(ends[0]);
  const base::UniqueFd other(ends[1]);
  int pidfd = -1;
  socklen_t length = sizeof(pidfd);
  const bool works = getsockopt(one.get(), SOL_SOCKET, SO_PEERPIDFD, &pidfd, &length) == 0;
  if (works) close(pidfd);
  return works;
}

KernelFacts LookAtKernel() {
  KernelFacts facts;
  utsname name{};
  if (uname(&name) == 0) facts.release = name.release;
  facts.memfd_error = TryMemfd();
  void* head = nullptr;
  std::size_t length = 0;
  facts.robust_futex = syscall(SYS_get_robust_list, 0, &head, &length) == 0;
  facts.peer_pidfd = PeerPidfdWorks();
  const long commands = syscall(SYS_membarrier, MEMBARRIER_CMD_QUERY, 0);
  facts.membarrier = commands > 0 && (commands & MEMBARRIER_CMD_PRIVATE_EXPEDITED) != 0;
  return facts;
}

double SecondsSinceBoot() {
  timespec now{};
  clock_gettime(CLOCK_BOOTTIME, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// Returns how many seconds after boot the process started, or 0 if the process is not visible.
double StartOfProcess(std::uint32_t pid) {
  constexpr int kFieldsBeforeStart = 19;  // after the name, which ends with the last parenthesis
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t end = text.rfind(')');
  if (end == std::string::npos) return 0;
  std::istringstream fields(text.substr(end + 1));
  std::string skipped;
  for (int i = 0; i < kFieldsBeforeStart; ++i) fields >> skipped;
  double ticks = 0;
  return fields >> ticks ? ticks / static_cast<double>(sysconf(_SC_CLK_TCK)) : 0;
}

void AskDaemon(Facts* facts) {
  if (facts->api.connect_errno != 0) return;
  // The daemon tells its uptime after this moment, so a process that is older than the uptime now is older
  // than the daemon, however long the answer takes.
  const double asked = SecondsSinceBoot();
  auto top = std::make_shared<node::v1::Top>();
  if (!NodeClient(facts->api.path).GetTop(top.get()).empty()) return;
  for (const auto& job : top->jobs()) {
    for (const auto& client : job.clients()) {
      const double start = client.pid() == 0 ? 0 : StartOfProcess(client.pid());
      if (start > 0) facts->process_age_s[client.pid()] = asked - start;
    }
  }
  facts->daemon = std::move(top);
}

// Returns a path from the first source that has one: the option, the environment, the daemon, the default.
std::string Where(const std::string& said, const Environment& environment, const char* variable,
                  const std::string& by_daemon, const char* otherwise) {
  if (!said.empty()) return said;
  const auto named = environment.find(variable);
  if (named != environment.end()) return named->second;
  return by_daemon.empty() ? otherwise : by_daemon;
}

}  // namespace

Facts Probe(const DoctorOptions& options) {
  Facts facts;
  facts.user = geteuid();
  facts.environment = ReadEnvironment();
  facts.api = LookAtSocket(options.api_socket, SOCK_STREAM);
  AskDaemon(&facts);
  const node::v1::Daemon daemon = facts.daemon == nullptr ? node::v1::Daemon() : facts.daemon->daemon();
  facts.arbiter = LookAtSocket(Where(options.arbiter_socket, facts.environment, base::kSocket.name,
                                     daemon.arbiter_socket(), base::kDefaultSocket),
                               SOCK_SEQPACKET);
  facts.library = LookAtLibrary(options.library);
  facts.unreadable_preloads = UnreadablePreloads(facts.environment);
  facts.driver = LookAtDriver();
  facts.mps = LookAtMps(Where("", facts.environment, base::kMpsPipeVariable, daemon.mps_pipe_directory(),
                              base::kDefaultMpsPipe));
  facts.mps.fault = daemon.mps_fault();
  facts.mps.unasked = daemon.mps_unasked();
  facts.mps.shm_bytes = daemon.mps_shm_bytes();
  facts.mps.shm_free_bytes = daemon.mps_shm_free_bytes();
  facts.kernel = LookAtKernel();
  return facts;
}

}  // namespace crossover::cli
