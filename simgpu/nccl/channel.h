// Implements one TCP connection of a communicator. The communicator's engine thread uses it and never
// blocks.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "simgpu/nccl/rendezvous.h"

namespace simgpu::nccl {

// A Channel sends and receives frames on a non-blocking socket. One thread.
class Channel {
 public:
  Channel() = default;
  explicit Channel(UniqueFd fd) : fd_(std::move(fd)) {}
  explicit Channel(Arrival arrival) : fd_(std::move(arrival.fd)), reader_(std::move(arrival.reader)) {}

  int fd() const { return fd_.get(); }
  bool open() const { return static_cast<bool>(fd_); }

  // Queues a frame and sends as much as the socket takes.
  void Send(std::vector<std::byte> frame);
  // Sends more of the queued frames.
  void Flush();
  bool flushed() const { return queue_.empty(); }

  // Returns the next frame, or no value if none is complete. Reads from the socket as needed. The payload
  // is valid until the next call.
  std::optional<FrameReader::Frame> Receive();
  // Discards all data that has arrived.
  void Drain();

  // Returns true if the other side has closed, or has sent data that is not a frame. Receive() still
  // returns the frames that came before.
  bool closed() const { return closed_ || reader_.broken(); }

  // Closes both directions at once, without a kBye.
  void Cut();

 private:
  bool Fill();

  UniqueFd fd_;
  FrameReader reader_;
  std::deque<std::vector<std::byte>> queue_;
  std::size_t sent_ = 0;  // bytes sent of the first frame in the queue
  bool closed_ = false;
};

}  // namespace simgpu::nccl
