// Plays the arbiter's side of a connection in a test.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>

#include "common/base/descriptors.h"
#include "common/base/fd.h"
#include "proto/arbiter_protocol.h"
#include "sidecar/arbiter_client/connection.h"

namespace crossover::test {

// A Turnstile is a page as an arbiter makes it, and it is mapped here too.
class Turnstile {
 public:
  explicit Turnstile(int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL,
                     off_t bytes = CROSSOVER_PAGE_BYTES) {
    fd_.Reset(::memfd_create("turnstile", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd_.get(), bytes), 0);
    page_ = static_cast<crossover_page*>(
        ::mmap(nullptr, CROSSOVER_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0));
    if (bytes >= CROSSOVER_PAGE_BYTES) {
      page_->magic = CROSSOVER_TURNSTILE_MAGIC;
      page_->version = CROSSOVER_TURNSTILE_VERSION;
      page_->bytes = sizeof(crossover_page);
      page_->clients = CROSSOVER_MAX_CLIENTS;
    }
    if (seals != 0) {
      EXPECT_EQ(::fcntl(fd_.get(), F_ADD_SEALS, seals), 0);
    }
  }
  ~Turnstile() { ::munmap(page_, CROSSOVER_PAGE_BYTES); }
  Turnstile(const Turnstile&) = delete;
  Turnstile& operator=(const Turnstile&) = delete;

  int fd() const { return fd_.get(); }
  crossover_page& page() { return *page_; }

 private:
  base::UniqueFd fd_;
  crossover_page* page_ = nullptr;
};

// Sends `bytes` bytes of `message`, with descriptors if there are any.
inline void SendMessage(int socket, const void* message, std::size_t bytes, std::initializer_list<int> fds) {
  ASSERT_EQ(base::SendWithDescriptors(socket, message, bytes, {fds.begin(), fds.size()}, MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes));
}

// Does the same, with `fd` if it is not negative.
inline void SendMessage(int socket, const void* message, std::size_t bytes, int fd = -1) {
  if (fd >= 0) {
    SendMessage(socket, message, bytes, {fd});
  } else {
    SendMessage(socket, message, bytes, std::initializer_list<int>{});
  }
}

inline crossover_welcome Welcome(std::uint32_t slot) {
  return {arbiter_client::MakeHeader(CROSSOVER_WELCOME, sizeof(crossover_welcome)), slot, 0};
}

// Listens on a path of its own.
class Listener {
 public:
  Listener() {
    EXPECT_NE(::mkdtemp(directory_), nullptr);
    path_ = std::string(directory_) + "/arbiter.sock";
    fd_.Reset(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path_.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(::listen(fd_.get(), 4), 0);
  }
  ~Listener() {
    ::unlink(path_.c_str());
    ::rmdir(directory_);
  }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  const char* path() const { return path_.c_str(); }
  int fd() const { return fd_.get(); }

  // Waits for a client and its Hello. Returns the connection.
  base::UniqueFd Accept(crossover_hello* hello) const {
    base::UniqueFd client(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    EXPECT_EQ(::recv(client.get(), hello, sizeof *hello, 0), static_cast<ssize_t>(sizeof *hello));
    return client;
  }

 private:
  char directory_[32] = "/tmp/crossover-test-XXXXXX";
  std::string path_;
  base::UniqueFd fd_;
};

}  // namespace crossover::test
