// Acts as nvidia-cuda-mps-control for software GPUs:
//
//     nvidia-cuda-mps-control -f [-multiuser-server]
//                                         runs the control daemon; -multiuser-server: one server for all
//                                         users
//     nvidia-cuda-mps-control -d [-multiuser-server]
//                                         the same in the background
//     nvidia-cuda-mps-control -h          tells how it is called
//     nvidia-cuda-mps-control             sends the lines of its standard input to the daemon:
//                                         get_server_list, get_server_status SERVER, start_server -uid USER,
//                                         get_client_list SERVER, terminate_client SERVER CLIENT, quit,
//                                         get_default_active_thread_percentage,
//                                         set_default_active_thread_percentage PERCENTAGE,
//                                         get_active_thread_percentage SERVER,
//                                         set_active_thread_percentage SERVER PERCENTAGE
//
// These lines inject faults, which NVIDIA's program does not know: simgpu_fault SERVER puts a server in
// FAULT, until its clients are gone or simgpu_recover SERVER; simgpu_fault SERVER hits also takes the
// contexts of its clients away, as a fatal fault on the GPU does; simgpu_fault SERVER hits GPU-UUID does so
// to those that use this GPU, and to those on GPUs that clients link to it; simgpu_servers fail keeps servers
// from starting, until simgpu_servers start.
//
// It acts as the program of the driver 555, which refuses any other option, or as that of the driver that
// SIMGPU_MPS_DRIVER names: 535, 550 or 580. tests/referee compares it with NVIDIA's own programs.
// CUDA_MPS_PIPE_DIRECTORY names the directory of its socket. With SIMGPU_MPS_STRICT set, a client that is
// killed ends the other clients of its server too, which may happen on real GPUs, and a client whose own work
// fails on the GPU hits the other clients in the domain of the fault.
// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE is the default percentage of the daemon. A server keeps the percentage
// that it started with until set_active_thread_percentage changes it. With CUDA_MPS_PROTOCOL_VERSION set to
// another number than 2 it knows none of these commands but quit.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/mps/driver.h"
#include "simgpu/mps/protocol.h"
#include "simgpu/mps/servers.h"

namespace simgpu::mps {
namespace {

constexpr char kProgram[] = "nvidia-cuda-mps-control";
constexpr char kPidFile[] = "/nvidia-cuda-mps-control.pid";
constexpr char kLockFile[] = "/control_lock";
constexpr std::size_t kLongestCommand = 512;  // with the byte before it
constexpr std::size_t kLongestAnswer = 65536;
constexpr mode_t kForAll = 0777;  // NVIDIA's daemon makes its directory so, whatever the umask
constexpr mode_t kForAllToWrite = 0666;

// An Options holds what the command line says.
struct Options {
  bool foreground = false;
  bool background = false;
  bool multi_user = false;
  bool help = false;
  const char* unknown = nullptr;  // the first option that is not known
};

Options ReadOptions(int count, char** words, Driver driver) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    const bool foreground = word == "-f", background = word == "-d", help = word == "-h" || word == "--help";
    const bool multi_user =
        (word == "-multiuser-server" && RefusesOptions(driver)) || (word == "-M" && HeedsProtocol(driver));
    options.foreground |= foreground;
    options.background |= background;
    options.help |= help;
    options.multi_user |= multi_user;
    const bool known = foreground || background || help || multi_user;
    if (!known && options.unknown == nullptr) options.unknown = words[i];
  }
  return options;
}

std::string Directory() {
  const char* directory = std::getenv(kDirectoryVariable);
  return directory != nullptr ? directory : kDefaultDirectory;
}

sockaddr_un AddressOf(const std::string& directory) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::snprintf(address.sun_path, sizeof address.sun_path, "%s/control", directory.c_str());
  return address;
}

// Connects to the daemon of the directory. Returns the connection, or -1 if none listens.
int Connect() {
  const sockaddr_un address = AddressOf(Directory());
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

// Makes the directory and locks it against a second daemon. Says why it cannot, and returns whether it could.
bool TakeDirectory(const std::string& directory) {
  if (mkdir(directory.c_str(), kForAll) == 0) chmod(directory.c_str(), kForAll);
  // The lock lasts until the daemon ends. A child that goes to the background keeps it.
  const int lock = open((directory + kLockFile).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kForAllToWrite);
  if (lock < 0) {
    std::printf("Cannot access %s=%s\n", kDirectoryVariable, directory.c_str());
    return false;
  }
  fchmod(lock, kForAllToWrite);
  if (flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
  std::printf("An instance of this daemon is already running\n");
  return false;
}

int Listen(const std::string& directory) {
  const sockaddr_un address = AddressOf(directory);
  unlink(address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(fd, 64) != 0)
    return -1;
  chmod(address.sun_path, kForAllToWrite);
  return fd;
}

bool Quits(const std::string& line) { return line.substr(0, line.find_first_of(" \t")) == "quit"; }

// Answers one command of a user. Sets `*stays` to false if the daemon must end, after it has removed the file
// with its process ID.
std::string Answer(const std::string& line, uid_t uid, Servers* servers, bool* stays) {
  if (!Quits(line)) return servers->Execute(line, uid);
  if (!servers->IsAdministrator(uid)) return "Not enough privilege to execute quit command\n";
  unlink((Directory() + kPidFile).c_str());
  *stays = false;
  return "";
}

// Serves one new connection, of a client or of a command. Returns false if the daemon must end.
bool Accept(int listener, Servers* servers) {
  const int fd = accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
  if (fd < 0) return true;
  const timeval patience{1, 0};
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  ucred peer{};
  socklen_t size = sizeof peer;
  char message[kLongestCommand];
  const ssize_t got = recv(fd, message, sizeof message, 0);
  const char kind = got > 0 ? message[0] : '\0';
  const bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0;
  if (kind == kClient && known) {
    servers->AddClient(fd, peer.pid, peer.uid);
    return true;
  }
  bool stays = true;
  if (kind == kCommand && known) {
    const std::string line(message + 1, static_cast<std::size_t>(got) - 1);
    const std::string answer = Answer(line, peer.uid, servers, &stays);
    send(fd, answer.data(), answer.size(), MSG_NOSIGNAL);
  }
  close(fd);
  return stays;
}

// Goes on in a child that belongs to no terminal. Returns the child's process ID in the parent, 0 in the
// child, and -1 if there is no child.
pid_t GoToBackground() {
  const pid_t child = fork();
  if (child != 0) return child;
  setsid();
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(null, fd);
  return 0;
}

void WritePid(const std::string& file) {
  std::ofstream(file) << getpid();
  chmod(file.c_str(), kForAllToWrite);
}

// Returns the daemon's percentage from its environment.
double PercentageOfEnvironment() {
  const char* text = std::getenv(kActiveThreadVariable);
  const double percentage = text == nullptr ? kWholeGpu : ReadPercentage(text);
  if (percentage > 0) return percentage;
  std::fprintf(stderr,
               "%s: environment: %s=%s: expected a number above 0 and up to 100; the variable is ignored\n",
               kProgram, kActiveThreadVariable, text);
  return kWholeGpu;
}

// Serves until `quit` or a signal. Returns the number of the signal, or 0.
int ServeUntilTold(int listener, int told, Servers* servers) {
  for (;;) {
    std::vector<pollfd> fds = {{told, POLLIN, 0}, {listener, POLLIN, 0}};
    for (const int connection : servers->connections()) fds.push_back({connection, POLLIN, 0});
    poll(fds.data(), fds.size(), -1);
    signalfd_siginfo signal{};
    if (fds[0].revents != 0 && read(told, &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo != SIGCHLD) return static_cast<int>(signal.ssi_signo);
      for (pid_t server; (server = waitpid(-1, nullptr, WNOHANG)) > 0;) servers->OnServerEnd(server);
    }
    for (std::size_t i = 2; i < fds.size(); ++i) {
      if (fds[i].revents != 0) servers->OnReadable(fds[i].fd);
    }
    if (fds[1].revents != 0 && !Accept(listener, servers)) return 0;
  }
}

// Serves until the daemon is told to end. Returns the exit status, or ends by the signal that told it.
int Serve(bool multi_user, bool background, Driver driver) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int told = signalfd(-1, &signals, SFD_CLOEXEC);
  if (!TakeDirectory(Directory())) return 1;
  const int listener = Listen(Directory());
  if (listener < 0) {
    std::fprintf(stderr, "%s: %s: %s\n", kProgram, Directory().c_str(), std::strerror(errno));
    return 1;
  }
  if (const pid_t child = background ? GoToBackground() : 0; child != 0) return child > 0 ? 0 : 1;
  if (HasPidFile(driver)) WritePid(Directory() + kPidFile);
  const char* protocol = HeedsProtocol(driver) ? std::getenv(kProtocolVariable) : nullptr;
  int signal = 0;
  {
    Servers servers({.multi_user = multi_user,
                     .strict = std::getenv("SIMGPU_MPS_STRICT") != nullptr,
                     .percentage = PercentageOfEnvironment(),
                     .driver = driver,
                     .other_commands = protocol != nullptr && std::string_view(protocol) != "2"});
    signal = ServeUntilTold(listener, told, &servers);
  }
  if (signal == 0) return 0;
  std::signal(signal, SIG_DFL);
  sigprocmask(SIG_UNBLOCK, &signals, nullptr);
  return raise(signal);
}

// Sends each line of the standard input to the daemon and prints the answers. Returns the exit status.
int Ask() {
  const int first = Connect();
  if (first >= 0) close(first);
  bool connected = first >= 0;
  for (std::string line; connected && std::getline(std::cin, line);) {
    const int fd = Connect();
    connected = fd >= 0;
    if (!connected) break;
    line = kCommand + line.substr(0, kLongestCommand - 1);
    send(fd, line.data(), line.size(), MSG_NOSIGNAL);
    std::string answer(kLongestAnswer, '\0');
    const ssize_t got = recv(fd, answer.data(), answer.size(), 0);
    if (got > 0) std::cout.write(answer.data(), got);
    close(fd);
  }
  if (connected) return 0;
  std::fprintf(stderr, "Cannot find MPS control daemon process\n");
  return 1;
}

void PrintHelp() {
  std::printf(
      "%s of the software GPU: -d or -f runs the control daemon, with -multiuser-server for all users;\n"
      "without an option it sends the lines of its standard input to the daemon\n",
      kProgram);
}

int Main(int count, char** words) {
  const char* text = std::getenv(kDriverVariable);
  const auto driver = ReadDriver(text == nullptr ? "555" : text);
  if (!driver) {
    std::fprintf(stderr, "%s: environment: %s=%s: expected 535, 550, 555 or 580\n", kProgram, kDriverVariable,
                 text);
    return 1;
  }
  const Options options = ReadOptions(count, words, *driver);
  if (options.unknown != nullptr && RefusesOptions(*driver)) {
    std::printf("%s: unknown option %s: expected -d, -f, -h or -multiuser-server\n", kProgram,
                options.unknown);
    PrintHelp();
    return 1;
  }
  if (options.help) {
    PrintHelp();
    return 0;
  }
  if (options.unknown != nullptr || (!options.foreground && !options.background)) return Ask();
  return Serve(options.multi_user, options.background, *driver);
}

}  // namespace
}  // namespace simgpu::mps

int main(int argc, char** argv) { return simgpu::mps::Main(argc, argv); }
