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

template <class Change>
void Mailbox::Put(Change change) {
  {
    const std::lock_guard lock(mutex_);
    change(&content_);
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t size = write(fd_.get(), &one, sizeof(one));
}

void Mailbox::PutDead(std::uint64_t id) {
  Put([id](Content* content) { content->dead.push_back(id); });
}

void Mailbox::PutSettings(LiveSettings settings) {
  Put([&settings](Content* content) { content->settings = std::move(settings); });
}

void Mailbox::PutReview() {
  Put([](Content* content) { content->review = true; });
}

void Mailbox::PutStop() {
  Put([](Content* content) { content->stop = true; });
}

void Mailbox::PutPing() {
  Put([](Content* content) { content->ping = true; });
}

Mailbox::Content Mailbox::Take() {
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t size = read(fd_.get(), &count, sizeof(count));
  const std::lock_guard lock(mutex_);
  return std::exchange(content_, Content{});
}

}  // namespace crossover::arbiter
