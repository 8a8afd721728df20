// Runs a signaller: it follows the turnstiles of one GPU that the arbiter sends, with or without an arbiter.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/logging/log.h"
#include "deviceplugin/signaller/driver.h"
#include "deviceplugin/signaller/link.h"
#include "deviceplugin/signaller/options.h"
#include "deviceplugin/signaller/pages.h"
#include "deviceplugin/signaller/signal_memory.h"
#include "turn/policy.h"

namespace crossover::signaller {

// A Signaller is not thread-safe.
class Signaller {
 public:
  explicit Signaller(Options options) : options_(std::move(options)) {}

  // Loads the driver and opens the GPU. Returns false, with the reason in `error`, on failure.
  bool Start(std::string* error);
  // Follows until the driver refuses a write or the GPU may have no context of ours any more, and returns the
  // reason; or until the arbiter tells this process to release the GPU (rest.h), and returns nothing. SIGTERM
  // ends the process as usual: there is nothing to put in order.
  std::optional<std::string> Run();

 private:
  // Writes a line of the log that names the GPU: several signallers may write to one log.
  void Say(logging::Level level, const std::string& text) const;
  void MeetArbiter(turn::Time now);
  void Take(Received received);
  // Returns the area of the turnstile, or 0 with the reason in `error`.
  std::uint32_t Follow(const signaller::Follow& follow, std::vector<base::UniqueFd> descriptors,
                       std::string* error);
  bool HaveMemory(bool kept, std::vector<base::UniqueFd>* descriptors, std::string* error);

  const Options options_;
  Driver driver_;
  CUdevice device_ = 0;
  std::shared_ptr<SignalMemory> memory_;  // what the next turnstile gets
  Pages pages_;
  Link link_;
  turn::Time connect_again_ = 0;
  turn::Time ask_mode_at_ = 0;
  bool rests_ = false;        // the arbiter has told it to release the GPU
  std::string said_;          // why the last try to connect failed
  std::string said_refusal_;  // what the arbiter has refused since it let a turnstile be followed
};

}  // namespace crossover::signaller
