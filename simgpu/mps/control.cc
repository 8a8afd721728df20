// Acts as nvidia-cuda-mps-control for software GPUs:
//
//     nvidia-cuda-mps-control -f [-multiuser-server]
//                                         runs the control daemon; -multiuser-server: one server for all
//                                         users
//     nvidia-cuda-mps-control -d [-multiuser-server]
//                                         the same in the background
//     nvidia-cuda-mps-control             sends the lines of its standard input to the daemon:
//                                         get_server_list, get_server_status SERVER, start_server -uid USER,
//                                         get_client_list SERVER, terminate_client SERVER CLIENT, quit,
//                                         get_default_active_thread_percentage,
//                                         set_default_active_thread_percentage PERCENTAGE,
//                                         set_active_thread_percentage SERVER PERCENTAGE
//
// These lines inject faults, which NVIDIA's program does not know: simgpu_fault SERVER puts a server in
// FAULT, until its clients are gone or simgpu_recover SERVER; simgpu_fault SERVER hits also takes the
// contexts of its clients away, as a fatal fault on the GPU does; simgpu_servers fail keeps servers from
// starting, until simgpu_servers start.
//
// It refuses any other option, as the program of the driver 555 does: that one does not know -M.
// CUDA_MPS_PIPE_DIRECTORY names the directory of its socket. With SIMGPU_MPS_STRICT set, a client that is
// killed ends the other clients of its server too, which may happen on real GPUs, and a client whose own work
// fails on the GPU hits the other clients of its server.
// CUDA_MPS_ACTIVE_THREAD_PERCENTAGE is the default percentage of the daemon. A server keeps the percentage
// that it started with until set_active_thread_percentage changes it. With CUDA_MPS_PROTOCOL_VERSION set to
// another number than 2 it knows none of these commands but quit.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "simgpu/mps/protocol.h"
#include "simgpu/mps/servers.h"

namespace simgpu::mps {
namespace {

constexpr char kPidFile[] = "/nvidia-cuda-mps-control.pid";
constexpr std::size_t kLongestCommand = 512;  // with the byte before it
constexpr std::size_t kLongestAnswer = 65536;

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

int Listen(const std::string& directory) {
  mkdir(directory.c_str(), 0755);
  const sockaddr_un address = AddressOf(directory);
  unlink(address.sun_path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 || listen(fd, 64) != 0)
    return -1;
  chmod(address.sun_path, 0666);
  return fd;
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
  if (kind == kClient && getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0) {
    servers->AddClient(fd, peer.pid, peer.uid);
    return true;
  }
  bool stays = true;
  if (kind == kCommand) {
    const std::string line(message + 1, static_cast<std::size_t>(got) - 1);
    stays = line != "quit";
    const std::string answer = stays ? servers->Execute(line) : "";
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

// Serves until the daemon is told to end. Returns the exit status.
int Serve(bool multi_user, bool background) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGCHLD, SIGTERM, SIGINT}) sigaddset(&signals, signal);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  const int told = signalfd(-1, &signals, SFD_CLOEXEC);
  const int listener = Listen(Directory());
  if (listener < 0) {
    std::fprintf(stderr, "nvidia-cuda-mps-control: %s: %s\n", Directory().c_str(), std::strerror(errno));
    return 1;
  }
  if (const pid_t child = background ? GoToBackground() : 0; child != 0) return child > 0 ? 0 : 1;
  std::ofstream(Directory() + kPidFile) << getpid();
  const char* text = std::getenv(kActiveThreadVariable);
  const int percentage = text == nullptr ? 100 : ReadPercentage(text);
  if (percentage == 0) {
    std::fprintf(stderr,
                 "nvidia-cuda-mps-control: environment: %s=%s: expected a whole number from 1 to 100; "
                 "the variable is ignored\n",
                 kActiveThreadVariable, text);
  }
  const char* protocol = std::getenv(kProtocolVariable);
  Servers servers(multi_user, std::getenv("SIMGPU_MPS_STRICT") != nullptr, percentage == 0 ? 100 : percentage,
                  protocol != nullptr && std::string_view(protocol) != "2");
  for (;;) {
    std::vector<pollfd> fds = {{told, POLLIN, 0}, {listener, POLLIN, 0}};
    for (const int connection : servers.connections()) fds.push_back({connection, POLLIN, 0});
    poll(fds.data(), fds.size(), -1);
    signalfd_siginfo signal{};
    if (fds[0].revents != 0 && read(told, &signal, sizeof signal) == sizeof signal) {
      if (signal.ssi_signo != SIGCHLD) return 0;
      for (pid_t server; (server = waitpid(-1, nullptr, WNOHANG)) > 0;) servers.OnServerEnd(server);
    }
    for (std::size_t i = 2; i < fds.size(); ++i) {
      if (fds[i].revents != 0) servers.OnReadable(fds[i].fd);
    }
    if (fds[1].revents != 0 && !Accept(listener, &servers)) return 0;
  }
}

// Sends each line of the standard input to the daemon and prints the answers. Returns the exit status.
int Ask() {
  for (std::string line; std::getline(std::cin, line);) {
    const sockaddr_un address = AddressOf(Directory());
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      std::fprintf(stderr, "Cannot find MPS control daemon process\n");
      return 1;
    }
    line = kCommand + line.substr(0, kLongestCommand - 1);
    send(fd, line.data(), line.size(), MSG_NOSIGNAL);
    std::string answer(kLongestAnswer, '\0');
    const ssize_t got = recv(fd, answer.data(), answer.size(), 0);
    if (got > 0) std::cout.write(answer.data(), got);
    close(fd);
  }
  return 0;
}

}  // namespace
}  // namespace simgpu::mps

int main(int argc, char** argv) {
  bool foreground = false;
  bool background = false;
  bool multi_user = false;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    foreground |= option == "-f";
    background |= option == "-d";
    multi_user |= option == "-multiuser-server";
    if (option == "-f" || option == "-d" || option == "-multiuser-server") continue;
    std::fprintf(stderr, "nvidia-cuda-mps-control: %s: expected -d, -f or -multiuser-server\n", argv[i]);
    return 1;
  }
  if (!foreground && !background) return simgpu::mps::Ask();
  return simgpu::mps::Serve(multi_user, background);
}
