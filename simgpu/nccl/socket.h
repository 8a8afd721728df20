// Wraps TCP for the rendezvous and the rings. All descriptors are non-blocking and close-on-exec.
//
// Every wait takes a Cancel. Another thread raises it when the communicator is aborted, and the wait ends
// at once. A function that returns no descriptor, no value or false puts the reason in *error.
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

// A Cancel is a flag that poll() can see. Thread-safe.
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

// Chooses the address at which other ranks can reach this machine. NCCL_SOCKET_IFNAME says which interfaces
// are allowed ("eth,ib" by prefix, "=eth0" exactly, "^docker" none of these). Unless it names one, loopback
// is used only if nothing else is up. IPv4 is preferred to IPv6. The port is 0.
std::optional<Endpoint> ChooseAddress(std::string* error);

// Listens at where->address on a port that the system chooses, and fills in the port.
UniqueFd Listen(Endpoint* where, std::string* error);

UniqueFd Connect(const Endpoint& where, const Cancel& cancel, std::string* error);

// Blocks until a connection comes, and accepts it.
UniqueFd Accept(int listener, const Cancel& cancel, std::string* error);

// Blocks until all of `bytes` is sent.
bool SendAll(int fd, std::span<const std::byte> bytes, const Cancel& cancel, std::string* error);

// Reads until `reader` holds a frame, which must be of `kind`. The text of an error frame becomes *error.
// Gives up after `timeout_ms` without a byte; -1 waits without end.
std::optional<FrameReader::Frame> ReceiveFrame(int fd, FrameReader& reader, Kind kind, const Cancel& cancel,
                                               std::string* error, int timeout_ms = -1);

// Returns a text such as "10.0.0.1:1234".
std::string ToText(const Endpoint& endpoint);

}  // namespace simgpu::nccl
