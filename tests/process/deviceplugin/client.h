// Stands for a client of the arbiter, without a GPU. It speaks the protocol and takes turns from its own
// thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/base/fd.h"
#include "proto/arbiter_protocol.h"
#include "proto/turnstile.h"
#include "turn/ops.h"

namespace crossover::testing {

inline constexpr char kGpu[] = "GPU-00000000-0000-0000-0000-000000000000";

// Returns a valid hello of rank 0 of a gang of two, with host gates.
crossover_hello MakeHello(const std::string& gang, const std::string& uuid = kGpu);

// Holds one message from the daemon.
struct Answer {
  enum class Kind { kWelcome, kRefused, kEnd, kOther };
  Kind kind = Kind::kEnd;
  std::uint32_t slot = 0;
  std::string reason;
  base::UniqueFd page;
};

class Client {
 public:
  explicit Client(const std::string& socket_path);
  ~Client();

  bool connected() const { return connected_; }
  int fd() const { return socket_.get(); }
  // Returns false unless all bytes were sent.
  bool SendBytes(const void* bytes, std::size_t size) const;
  // Blocks until the next message. The kind is kEnd if the connection has ended.
  Answer Receive() const;
  // Sends a hello and maps the page of the welcome. Returns false, with `refusal` set, if the daemon
  // refuses.
  bool Join(const std::string& gang, const std::string& uuid = kGpu);
  const std::string& refusal() const { return refusal_; }
  // Blocks until the connection ends.
  void AwaitEnd() const;

  crossover_page* page() const { return page_; }
  crossover_slot& self() const { return page_->slot[slot_]; }
  std::uint32_t slot() const { return slot_; }
  int page_fd() const { return page_fd_.get(); }

  // Starts a thread that owns this client's word of life. The thread lives as long as the process.
  void StartLiveness() const;
  void SetPhase(std::uint32_t phase) const;
  // Blocks until the arbiter has set this mode.
  void AwaitMode(std::uint32_t mode) const;

  // Take and give back turn 1, 2, 3, ... by host gates.
  void Acquire(std::uint32_t turn) const;
  void Release(std::uint32_t turn) const;

 private:
  base::UniqueFd socket_;
  base::UniqueFd page_fd_;
  crossover_page* page_ = nullptr;
  std::uint32_t slot_ = 0;
  bool connected_ = false;
  std::string refusal_;
};

}  // namespace crossover::testing
