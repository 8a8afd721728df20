#include "deviceplugin/arbiter/mailbox.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace crossover::arbiter {

bool Mailbox::Open(std::string* error) {
  fd_.Reset(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!fd_) *error = std::string("eventfd: ") + std::strerror(errno);
  return static_cast<bool>(fd_);
}

void Mailbox::PutDead(std::uint64_t id) {
  {
    const std::lock_guard lock(mutex_);
    content_.dead.push_back(id);
  }
  Ring();
}

void Mailbox::PutSettings(LiveSettings settings) {
  {
    const std::lock_guard lock(mutex_);
    content_.settings = std::move(settings);
  }
  Ring();
}

void Mailbox::PutStop() {
  {
    const std::lock_guard lock(mutex_);
    content_.stop = true;
  }
  Ring();
}

void Mailbox::PutPing() {
  {
    const std::lock_guard lock(mutex_);
    content_.ping = true;
  }
  Ring();
}

Mailbox::Content Mailbox::Take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = read(fd_.get(), &count, sizeof(count));
  const std::lock_guard lock(mutex_);
  return std::exchange(content_, Content{});
}

void Mailbox::Ring() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(fd_.get(), &one, sizeof(one));
}

}  // namespace crossover::arbiter
