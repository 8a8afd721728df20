// TCP for the rendezvous and the rings. All descriptors are non-blocking and close-on-exec.
//
// Every wait takes a Cancel: raised by another thread (abort of the communicator), it ends the wait at once.
#pragma once

#include <sys/eventfd.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "common/base/fd.h"
#include "simgpu/nccl/wire.h"

namespace simgpu::nccl {

using crossover::base::UniqueFd;

// A flag that poll() can see. Thread-safe.
class Cancel {
 public:
  Cancel() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}
  void Raise() const { eventfd_write(fd_.get(), 1); }
  void Clear() const {
    eventfd_t ignored;
    eventfd_read(fd_.get(), &ignored);
  }
  int fd() const { return fd_.get(); }

 private:
  UniqueFd fd_;
};

// The address that other ranks can reach: of the first interface that NCCL_SOCKET_IFNAME allows ("eth,ib" by
// prefix, "=eth0" exactly, "^docker" none of these), else the first that is up and not loopback, else
// loopback. Port 0. IPv4 is preferred.
std::optional<Endpoint> ChooseAddress(std::string* error);

// Listens at where->address on a port of the system's choice and fills it in.
UniqueFd Listen(Endpoint* where, std::string* error);

UniqueFd Connect(const Endpoint& where, const Cancel& cancel, std::string* error);

// Waits for a connection.
UniqueFd Accept(int listener, const Cancel& cancel, std::string* error);

// Sends all of it.
bool SendAll(int fd, std::span<const std::byte> bytes, const Cancel& cancel, std::string* error);

// Reads until `reader` holds a frame of the expected kind; an error frame becomes the error. Gives up after
// `timeout_ms` without a byte; -1 waits for ever.
std::optional<FrameReader::Frame> ReceiveFrame(int fd, FrameReader& reader, Kind kind, const Cancel& cancel,
                                               std::string* error, int timeout_ms = -1);

// "10.0.0.1:1234"
std::string ToText(const Endpoint& endpoint);

}  // namespace simgpu::nccl
