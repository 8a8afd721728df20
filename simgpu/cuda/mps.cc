#include "simgpu/cuda/mps.h"

#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>

#include "simgpu/mps/protocol.h"

namespace simgpu {
namespace {

std::atomic<int> connection{-1};

int Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

bool Receive(int fd, char wanted) {
  char byte = 0;
  ssize_t got = 0;
  do got = recv(fd, &byte, 1, 0);
  while (got < 0 && errno == EINTR);
  return got == 1 && byte == wanted;
}

[[noreturn]] void Watch(int fd) {
  Receive(fd, mps::kEnd);
  std::fprintf(stderr, "simgpu: the MPS server has ended, and with it this client\n");
  _exit(1);
}

void SayBye() {
  const int fd = connection.exchange(-1);
  if (fd >= 0) [[maybe_unused]]
    const ssize_t sent = send(fd, &mps::kBye, 1, MSG_NOSIGNAL);
}

}  // namespace

bool ConnectToMps() {
  static std::once_flag once;
  static bool good = true;
  std::call_once(once, [] {
    const char* directory = std::getenv(mps::kDirectoryVariable);
    const std::string path =
        std::string(directory != nullptr ? directory : mps::kDefaultDirectory) + "/control";
    if (access(path.c_str(), F_OK) != 0) return;
    const int fd = Connect(path);
    good = fd >= 0 && send(fd, &mps::kClient, 1, MSG_NOSIGNAL) == 1 && Receive(fd, mps::kGo);
    if (!good) return;
    connection = fd;
    std::atexit(SayBye);
    // A child is no client, and must not keep the connection open.
    pthread_atfork(nullptr, nullptr, [] { close(connection.exchange(-1)); });
    std::thread(Watch, fd).detach();
  });
  return good;
}

}  // namespace simgpu
