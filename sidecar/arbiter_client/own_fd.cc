#include "sidecar/arbiter_client/own_fd.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace crossover::arbiter_client {

bool StandsFor(int fd, const File& file) {
  struct stat status {};
  return fd >= 0 && ::fstat(fd, &status) == 0 && status.st_dev == file.device && status.st_ino == file.number;
}

OwnFd::OwnFd(int fd) : fd_(fd) {
  struct stat status {};
  if (fd >= 0 && ::fstat(fd, &status) == 0) file_ = {status.st_dev, status.st_ino};
}

OwnFd::OwnFd(OwnFd&& other) noexcept : fd_(std::exchange(other.fd_, -1)), file_(other.file_) {}

OwnFd& OwnFd::operator=(OwnFd&& other) noexcept {
  if (this == &other) return *this;
  Reset();
  fd_ = std::exchange(other.fd_, -1);
  file_ = other.file_;
  return *this;
}

void OwnFd::Reset() {
  const int fd = std::exchange(fd_, -1);
  if (StandsFor(fd, file_)) ::close(fd);
}

void SharedFd::Show(const OwnFd& fd) {
  Hide();
  file_ = fd.file();
  fd_.store(fd.get(), std::memory_order_release);
}

void SharedFd::CloseInChild() {
  const int fd = fd_.exchange(-1, std::memory_order_acquire);
  if (StandsFor(fd, file_)) ::close(fd);
}

}  // namespace crossover::arbiter_client
