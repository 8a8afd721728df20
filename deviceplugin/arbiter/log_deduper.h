// Remembers what was last logged about each subject, so that a client that asks repeatedly does not fill the
// log. Not thread-safe. Bounded.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

#include "common/base/clock.h"
#include "turn/timing_model.h"

namespace crossover::arbiter {

class LogDeduper {
 public:
  static constexpr std::size_t kMost = 1024;
  static constexpr turn::Time kAgain = 600 * base::kNsPerSecond;

  // Returns whether `text` should be logged about `whom`: it differs from the last text, or that is kAgain
  // ago.
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
