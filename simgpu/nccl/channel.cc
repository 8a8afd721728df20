#include "simgpu/nccl/channel.h"

#include <sys/socket.h>

#include <cerrno>

namespace simgpu::nccl {

void Channel::Send(std::vector<std::byte> frame) {
  if (closed_) return;
  queue_.push_back(std::move(frame));
  Flush();
}

void Channel::Flush() {
  while (!queue_.empty()) {
    const auto& frame = queue_.front();
    const ssize_t sent = send(fd_.get(), frame.data() + sent_, frame.size() - sent_, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno == EAGAIN) return;
    if (sent < 0) {
      // Data that the other side sent before it closed can still be read. The reader finds the end.
      queue_.clear();
      return;
    }
    sent_ += static_cast<std::size_t>(sent);
    if (sent_ < frame.size()) continue;
    queue_.pop_front();
    sent_ = 0;
  }
}

bool Channel::Fill() {
  while (!closed_) {
    const auto space = reader_.Space();
    const ssize_t got = recv(fd_.get(), space.data(), space.size(), 0);
    if (got > 0) {
      reader_.Received(static_cast<std::size_t>(got));
      return true;
    }
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return false;
    closed_ = true;
  }
  return false;
}

std::optional<FrameReader::Frame> Channel::Receive() {
  if (!open()) return std::nullopt;
  for (;;) {
    if (const auto frame = reader_.Next()) return frame;
    if (reader_.broken() || !Fill()) return std::nullopt;
  }
}

void Channel::Drain() {
  std::byte trash[4096];
  while (!closed_) {
    const ssize_t got = recv(fd_.get(), trash, sizeof trash, 0);
    if (got > 0 || (got < 0 && errno == EINTR)) continue;
    closed_ = got == 0 || errno != EAGAIN;
    return;
  }
}

void Channel::Cut() {
  if (open()) shutdown(fd_.get(), SHUT_RDWR);
}

}  // namespace simgpu::nccl
