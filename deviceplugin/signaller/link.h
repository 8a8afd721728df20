// The signaller's end of the arbiter's socket.
#pragma once

#include <string>
#include <vector>

#include "common/base/fd.h"
#include "deviceplugin/signaller/signaller_messages.h"
#include "turn/policy.h"

namespace crossover::signaller {

// A Received is one message with the descriptors that came along.
struct Received {
  Message message;
  std::vector<base::UniqueFd> descriptors;
};

enum class LinkState : std::uint8_t { kNothing, kMessage, kEnded };

// A Link is not thread-safe. Only Wait() blocks.
class Link {
 public:
  // Connects to the arbiter at `path` and says which GPU this process has, or has released if it `rests`.
  // Returns false, with the reason in `error`, if no arbiter can be reached.
  bool Connect(const std::string& path, const std::string& gpu_uuid, bool rests, std::string* error);
  bool connected() const { return static_cast<bool>(fd_); }
  // Sleeps until there is a message, at most `longest`.
  void Wait(turn::Time longest) const;
  // Reads a message into *received, if there is one, and returns whether there was. After kEnded the link is
  // closed.
  LinkState Receive(std::size_t memory_bytes, Received* received);
  // These functions return false if the arbiter does not take the message; the link is then closed.
  bool SendSignals(std::uint32_t area, std::size_t memory_bytes, int memory_fd);
  bool SendProven(const Prove& prove, bool written);
  bool SendRefused(const std::string& reason);
  void Close() { fd_.Reset(); }

 private:
  bool Send(const void* bytes, std::size_t size);

  base::UniqueFd fd_;
};

}  // namespace crossover::signaller
