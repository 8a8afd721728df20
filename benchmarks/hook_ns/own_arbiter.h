// Plays the arbiter for this one process. It admits the library, and asks it to observe or to take turns.
// There is no other client, so the library is measured alone.
#pragma once

#include <string>
#include <thread>

#include "common/base/fd.h"
#include "proto/turnstile.h"

namespace crossover::bench {

class OwnArbiter {
 public:
  // Listens at `path`. Throws std::system_error if that fails.
  explicit OwnArbiter(const std::string& path);
  OwnArbiter(const OwnArbiter&) = delete;
  OwnArbiter& operator=(const OwnArbiter&) = delete;

  // Asks the library for `mode`, a value of enum crossover_mode.
  void Ask(std::uint32_t mode);

  // Returns the phase that the library reports: a value of enum crossover_phase.
  std::uint32_t phase() const;
  // Returns the number of the turn that the library holds, or 0 if it holds none.
  std::uint32_t turn_held() const;

 private:
  void LetIn();

  base::UniqueFd listening_;
  base::UniqueFd memory_;
  base::UniqueFd client_;
  crossover_page* page_ = nullptr;
  std::jthread thread_;  // runs until the client is admitted
};

}  // namespace crossover::bench
