// How long to wait before asking again what was refused. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace crossover::kube {

class Backoff {
 public:
  using Time = std::chrono::milliseconds;

  // From the least on each wait is up to twice as long as the one before, and none is longer than the most.
  Backoff(Time least, Time most) : least_(least), most_(most), pause_(least) {}

  // `random`: any number. Waits are spread, so that a thousand nodes do not come back in the same instant.
  Time Next(std::uint64_t random) {
    const Time pause = pause_;
    pause_ = std::min(2 * pause_, std::max(least_, most_ / 2));
    return std::min(
        most_, pause + pause * static_cast<Time::rep>(random % static_cast<std::uint64_t>(kParts)) / kParts);
  }
  void Reset() { pause_ = least_; }

 private:
  static constexpr Time::rep kParts = 1000;

  const Time least_, most_;
  Time pause_;
};

}  // namespace crossover::kube
