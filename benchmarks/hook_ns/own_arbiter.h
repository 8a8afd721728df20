// The arbiter of this one process: lets the library in and asks it to watch, or to take turns. It has no
// other client, so that what the library does stands alone.
#pragma once

#include <string>
#include <thread>

#include "common/base/fd.h"
#include "proto/turnstile.h"

namespace crossover::bench {

class OwnArbiter {
 public:
  // Listens at `path`. Throws std::system_error where that cannot be.
  explicit OwnArbiter(const std::string& path);
  OwnArbiter(const OwnArbiter&) = delete;
  OwnArbiter& operator=(const OwnArbiter&) = delete;

  // Of enum crossover_mode.
  void Ask(std::uint32_t mode);

  // What the library says of itself: enum crossover_phase.
  std::uint32_t phase() const;
  // Number of the turn that it holds; 0 for none.
  std::uint32_t turn_held() const;

 private:
  void LetIn();

  base::UniqueFd listening_;
  base::UniqueFd memory_;
  base::UniqueFd client_;
  crossover_page* page_ = nullptr;
  std::jthread thread_;  // until the client is in
};

}  // namespace crossover::bench
