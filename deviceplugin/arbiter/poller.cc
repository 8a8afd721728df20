#include "deviceplugin/arbiter/poller.h"

#include <poll.h>
#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/base/timespec.h"

namespace crossover::arbiter {

bool Poller::Open(std::string* error) {
  fd_.Reset(epoll_create1(EPOLL_CLOEXEC));
  if (!fd_) *error = std::string("epoll_create1: ") + std::strerror(errno);
  ready_.reserve(kMostPerWait);
  return static_cast<bool>(fd_);
}

bool Poller::Add(int fd, std::uint64_t tag) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = tag;
  return epoll_ctl(fd_.get(), EPOLL_CTL_ADD, fd, &event) == 0;
}

void Poller::Remove(int fd) { epoll_ctl(fd_.get(), EPOLL_CTL_DEL, fd, nullptr); }

const std::vector<std::uint64_t>& Poller::Wait(turn::Time timeout) {
  ready_.clear();
  pollfd self{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  const timespec until = base::TimespecOf(timeout > 0 ? timeout : 0);
  // ppoll takes nanoseconds on every kernel, epoll_pwait2 only from 5.11 on. Most waits end without an
  // event, so the second call is rare.
  if (ppoll(&self, 1, timeout == turn::kNever ? nullptr : &until, nullptr) <= 0) return ready_;
  std::array<epoll_event, kMostPerWait> events;
  const int count = epoll_wait(fd_.get(), events.data(), kMostPerWait, 0);
  for (int i = 0; i < count; ++i) {
    const std::uint64_t id = events[static_cast<std::size_t>(i)].data.u64;  // the structure is packed
    ready_.push_back(id);
  }
  return ready_;
}

}  // namespace crossover::arbiter
