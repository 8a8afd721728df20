// What was said of whom, so that a client that asks again and again fills no log. Not thread-safe. Bounded.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "common/base/clock.h"
#include "turn/rhythm.h"

namespace crossover::arbiter {

class Said {
 public:
  static constexpr std::size_t kMost = 1024;
  static constexpr turn::Time kAgain = 600 * base::kNsPerSecond;

  // Whether `text` is news of `whom`: another than the last, or that was long ago.
  bool IsNews(std::int64_t whom, const std::string& text, turn::Time now) {
    if (said_.size() >= kMost && !said_.contains(whom)) said_.clear();
    auto [last, fresh] = said_.try_emplace(whom);
    if (!fresh && last->second.text == text && now - last->second.at < kAgain) return false;
    last->second = {text, now};
    return true;
  }

 private:
  struct Line {
    std::string text;
    turn::Time at = 0;
  };
  std::unordered_map<std::int64_t, Line> said_;
};

}  // namespace crossover::arbiter
