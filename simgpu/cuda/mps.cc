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

#include "simgpu/cuda/lost.h"
#include "simgpu/cuda/mps_limit.h"
#include "simgpu/machine/machine.h"
#include "simgpu/mps/protocol.h"

namespace simgpu {
namespace {

std::atomic<int> connection{-1};
std::atomic<double> daemon_percentage{100};
std::atomic<bool> is_client{false};

int Connect(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return -1;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
  close(fd);
  return -1;
}

// Receives a message of at most `room` bytes. Returns its size; 0 or less if none comes any more.
ssize_t Receive(int fd, char* message, std::size_t room) {
  ssize_t got = 0;
  do got = recv(fd, message, room, 0);
  while (got < 0 && errno == EINTR);
  return got;
}

// Blocks until the daemon lets the process go on, and returns an error if the daemon refuses it or goes. Also
// receives the daemon's percentage.
CUresult ReceiveGo(int fd) {
  char message[1 + sizeof(double)];
  const ssize_t got = Receive(fd, message, sizeof message);
  if (got == 1 && message[0] == mps::kNotReady) return CUDA_ERROR_MPS_SERVER_NOT_READY;
  if (got != sizeof message || message[0] != mps::kGo) return CUDA_ERROR_MPS_CONNECTION_FAILED;
  double percentage = 0;
  std::memcpy(&percentage, message + 1, sizeof percentage);
  daemon_percentage = percentage;
  return CUDA_SUCCESS;
}

// Ends the process when its MPS server ends. After a fault that hit it, the process goes on without its
// contexts, and it ends by itself.
[[noreturn]] void Watch(int fd) {
  char byte = 0;
  // Anything else is kEnd, or nothing because the connection is closed.
  while (Receive(fd, &byte, 1) == 1 && byte == mps::kFault) Lose(CUDA_ERROR_ILLEGAL_ADDRESS);
  std::fprintf(stderr, "simgpu: the MPS server has ended, and with it this client\n");
  _exit(1);
}

// Sends a message about a GPU of this node.
void SendOfGpu(char kind, int gpu) {
  const int fd = connection;
  if (fd < 0) return;
  const std::string message = kind + Machine::Get()->node_config().gpus[static_cast<std::size_t>(gpu)].uuid;
  [[maybe_unused]] const ssize_t sent = send(fd, message.data(), message.size(), MSG_NOSIGNAL);
}

void SayBye() {
  const int fd = connection.exchange(-1);
  if (fd >= 0) [[maybe_unused]]
    const ssize_t sent = send(fd, &mps::kBye, 1, MSG_NOSIGNAL);
}

}  // namespace

CUresult ConnectToMps() {
  static std::once_flag once;
  static CUresult result = CUDA_SUCCESS;
  std::call_once(once, [] {
    const char* directory = std::getenv(mps::kDirectoryVariable);
    const std::string path =
        std::string(directory != nullptr ? directory : mps::kDefaultDirectory) + "/control";
    const int fd = Connect(path);
    if (fd < 0) return;
    result = send(fd, &mps::kClient, 1, MSG_NOSIGNAL) == 1 ? ReceiveGo(fd) : CUDA_ERROR_MPS_CONNECTION_FAILED;
    if (result != CUDA_SUCCESS) return;
    connection = fd;
    is_client = true;
    std::atexit(SayBye);
    // A forked child is not a client, and it must not keep the connection open.
    pthread_atfork(nullptr, nullptr, [] { close(connection.exchange(-1)); });
    std::thread(Watch, fd).detach();
  });
  return result;
}

bool IsMpsClient() { return is_client; }

void TellMpsOfUse(int gpu) { SendOfGpu(mps::kUses, gpu); }

void ReportFaultToMps(int gpu) { SendOfGpu(mps::kFault, gpu); }

double ActiveThreadLimit(int gpu) {
  const Machine& machine = *Machine::Get();
  if (machine.config().mode != ShareMode::kShared) return Fluid::kUnlimited;
  static const double percentage = [] {
    std::string complaint;
    const double value =
        ActiveThreadPercentage(std::getenv(mps::kActiveThreadVariable), daemon_percentage, &complaint);
    if (!complaint.empty()) std::fprintf(stderr, "simgpu: %s\n", complaint.c_str());
    return value;
  }();
  if (percentage >= 100) return Fluid::kUnlimited;
  return SmsOfPercentage(percentage, machine.node_config().gpus[static_cast<std::size_t>(gpu)].sms);
}

}  // namespace simgpu
