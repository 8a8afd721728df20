#include "simgpu/machine/clients.h"

#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

#include "simgpu/machine/os.h"
#include "simgpu/machine/state.h"

namespace simgpu {
namespace {

struct flock WholeFile() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

// Returns a number that is the same for every library of this process. The kernel's random bytes are new at
// each exec, and the process ID distinguishes forked children.
std::uint64_t NameOfThisProcess() {
  std::uint64_t name = 0;
  const auto random = getauxval(AT_RANDOM);
  if (random != 0) std::memcpy(&name, reinterpret_cast<const void*>(random), sizeof name);
  name ^= static_cast<std::uint64_t>(getpid()) * 0x9e3779b97f4a7c15u;
  return name | 1;
}

std::atomic_ref<std::uint32_t> TokenOf(SharedClient& client) { return std::atomic_ref(client.token); }

}  // namespace

void ClientTable::Use(SharedState* state, const std::string& directory) {
  state_ = state;
  directory_ = directory;
  process_ = NameOfThisProcess();
}

std::string ClientTable::FileOf(int entry) const { return directory_ + "/clients/" + std::to_string(entry); }

bool ClientTable::Claim(SharedState* state, const std::string& directory, std::string* error) {
  Use(state, directory);
  for (int entry = 0; entry < kMaxClients; ++entry) {
    SharedClient& client = state->clients[entry];
    if (TokenOf(client).load() != 0 && client.process == process_) continue;
    ScopedFd fd(open(FileOf(entry).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!fd) {
      *error = FileOf(entry) + ": " + std::strerror(errno);
      return false;
    }
    fchmod(fd.get(), 0666);  // the next process may run as another user
    struct flock lock = WholeFile();
    if (fcntl(fd.get(), F_SETLK, &lock) != 0) continue;
    lock_fd_ = fd.release();
    client.process = process_;
    client.generation = client.generation % 0x7ffffe + 1;
    token_ = client.generation << 8 | static_cast<std::uint32_t>(entry);
    std::atomic_ref(client.of_mps).store(0);
    for (SharedGpu& gpu : state->gpus) gpu.used_bytes[entry] = gpu.contexts[entry] = 0;
    TokenOf(client).store(token_);
    return true;
  }
  *error = "the machine has 256 processes already";
  return false;
}

bool ClientTable::Listed(std::uint32_t token) const {
  return TokenOf(state_->clients[token & 0xff]).load() == token;
}

bool ClientTable::IsDead(std::uint32_t token) {
  return !Listed(token) || EntryIsDead(static_cast<int>(token & 0xff));
}

bool ClientTable::EntryIsDead(int entry) const {
  SharedClient& client = state_->clients[entry];
  if (TokenOf(client).load() == 0 || client.process == process_) return false;
  const ScopedFd fd(open(FileOf(entry).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return errno == ENOENT;
  struct flock lock = WholeFile();
  return fcntl(fd.get(), F_GETLK, &lock) == 0 && lock.l_type == F_UNLCK;
}

// The kernel reports the holder of a lock in the PID namespace of the process that asks.
pid_t ClientTable::PidOf(int entry) const {
  SharedClient& client = state_->clients[entry];
  if (TokenOf(client).load() == 0) return 0;
  if (client.process == process_) return getpid();
  const ScopedFd fd(open(FileOf(entry).c_str(), O_RDWR | O_CLOEXEC));
  if (!fd) return 0;
  struct flock lock = WholeFile();
  if (fcntl(fd.get(), F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
  return lock.l_pid > 0 ? lock.l_pid : 0;
}

}  // namespace simgpu
