// A file descriptor with one owner.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace crossover::base {

class ScopedFd {
 public:
  constexpr ScopedFd() = default;
  constexpr explicit ScopedFd(int fd) : fd_(fd) {}
  ScopedFd(ScopedFd&& other) noexcept : fd_(other.release()) {}
  ScopedFd& operator=(ScopedFd&& other) noexcept {
    reset(other.release());
    return *this;
  }
  ScopedFd(const ScopedFd&) = delete;
  ScopedFd& operator=(const ScopedFd&) = delete;
  ~ScopedFd() { reset(); }

  int get() const { return fd_; }
  bool valid() const { return fd_ >= 0; }
  explicit operator bool() const { return valid(); }

  // Gives the descriptor up without closing it.
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }

  // Closes what it held. Keeps errno: it often runs between a failed call and the report of it.
  void reset(int fd = -1) {
    const int old = std::exchange(fd_, fd);
    if (old < 0 || old == fd) return;
    const int saved_errno = errno;
    close(old);
    errno = saved_errno;
  }

 private:
  int fd_ = -1;
};

}  // namespace crossover::base
