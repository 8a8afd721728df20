#include "benchmarks/hook_ns/own_arbiter.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <span>
#include <system_error>

#include "common/base/descriptors.h"
#include "common/base/futex.h"
#include "proto/arbiter_protocol.h"

namespace crossover::bench {
namespace {

constexpr std::uint32_t kSlot = 0;

// Returns `result`. Throws std::system_error if it says that a system call failed.
int Succeeded(int result, const char* call) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), call);
  return result;
}

void SendWelcome(int client, int memory) {
  const crossover_welcome welcome{
      {CROSSOVER_WELCOME, sizeof welcome, CROSSOVER_PROTOCOL_VERSION, 0}, kSlot, 0};
  base::SendWithDescriptors(client, &welcome, sizeof welcome, std::span(&memory, 1), MSG_NOSIGNAL);
}

}  // namespace

OwnArbiter::OwnArbiter(const std::string& path)
    : listening_(Succeeded(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), "socket")),
      memory_(Succeeded(::memfd_create("turnstile", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create")) {
  Succeeded(::ftruncate(memory_.get(), CROSSOVER_PAGE_BYTES), "ftruncate");
  Succeeded(::fcntl(memory_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), "fcntl");
  void* mapped = ::mmap(nullptr, CROSSOVER_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, memory_.get(), 0);
  if (mapped == MAP_FAILED) throw std::system_error(errno, std::generic_category(), "mmap");
  page_ = static_cast<crossover_page*>(mapped);
  page_->magic = CROSSOVER_TURNSTILE_MAGIC;
  page_->version = CROSSOVER_TURNSTILE_VERSION;
  page_->bytes = sizeof *page_;
  page_->clients = CROSSOVER_MAX_CLIENTS;
  page_->slot[kSlot].mode = CROSSOVER_MODE_OBSERVE;

  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path)
    throw std::system_error(ENAMETOOLONG, std::generic_category(), path);
  path.copy(address.sun_path, path.size());
  Succeeded(::bind(listening_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
  Succeeded(::listen(listening_.get(), 1), "listen");
  thread_ = std::jthread([this] { LetIn(); });
}

void OwnArbiter::LetIn() {
  client_.Reset(::accept4(listening_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  crossover_hello hello{};
  if (::recv(client_.get(), &hello, sizeof hello, 0) != static_cast<ssize_t>(sizeof hello)) return;
  SendWelcome(client_.get(), memory_.get());
}

void OwnArbiter::Ask(std::uint32_t mode) { base::StoreWord(&page_->slot[kSlot].mode, mode); }

std::uint32_t OwnArbiter::phase() const { return base::LoadWord(&page_->slot[kSlot].phase); }

std::uint32_t OwnArbiter::turn_held() const {
  const std::uint32_t held = base::LoadWord(&page_->slot[kSlot].hold);
  return held == base::LoadWord(&page_->slot[kSlot].rel) ? 0 : held;
}

}  // namespace crossover::bench
