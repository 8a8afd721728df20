// Computes the pause before a failed request is sent again. Pure.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace crossover::kube {

class Backoff {
 public:
  using Time = std::chrono::milliseconds;

  // A pause is between p and 2 p long, and at most `most`. p begins with `least` and doubles with each pause,
  // up to half of `most`.
  Backoff(Time least, Time most) : least_(least), most_(most), pause_(least) {}

  // Returns the next pause. `random` is any number and spreads the pauses, so that a thousand nodes do not
  // return at the same instant.
  Time Next(std::uint64_t random) {
    const Time pause = pause_;
    pause_ = std::min(2 * pause_, std::max(least_, most_ / 2));
    return std::min(
        most_, pause + pause * static_cast<Time::rep>(random % static_cast<std::uint64_t>(kParts)) / kParts);
  }
  // Starts again with the shortest pause.
  void Reset() { pause_ = least_; }

 private:
  static constexpr Time::rep kParts = 1000;

  const Time least_, most_;
  Time pause_;
};

}  // namespace crossover::kube
