// One TCP connection of a communicator, driven by its engine thread without ever blocking.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "simgpu/nccl/rendezvous.h"

namespace simgpu::nccl {

class Channel {
 public:
  Channel() = default;
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}
  explicit Channel(Arrival arrival) : fd_(std::move(arrival.fd)), reader_(std::move(arrival.reader)) {}

  int fd() const { return fd_.get(); }
  bool open() const { return static_cast<bool>(fd_); }

  // Queues a frame and sends what the socket takes.
  void Send(std::vector<std::byte> frame);
  // Sends more of what is queued.
  void Flush();
  bool flushed() const { return queue_.empty(); }

  // The next frame, reading from the socket as needed. Its payload is valid until the next call.
  std::optional<FrameReader::Frame> Receive();
  // Throws away whatever has arrived.
  void Drain();

  // The other side is gone, or has sent what is not a frame. Frames that came before are still received.
  bool closed() const { return closed_ || reader_.broken(); }

  // Ends both directions at once, without a word.
  void Cut();

 private:
  bool Fill();

  UniqueFd fd_;
  FrameReader reader_;
  std::deque<std::vector<std::byte>> queue_;
  std::size_t sent_ = 0;  // of the first frame in the queue
  bool closed_ = false;
};

}  // namespace simgpu::nccl
