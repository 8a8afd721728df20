// Splits a stream of bytes into lines, whatever the size of the portions.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace crossover::kube {

class Lines {
 public:
  // `most_bytes` limits what is held at once, including the newest portion.
  explicit Lines(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Calls `on_line(std::string_view)` with each line that `bytes` completes, without its line feed. Skips
  // empty lines. Returns false if `on_line` does, or if more than `most_bytes` would be held. After
  // false, Add() must not be called again.
  template <class OnLine>
  bool Add(std::string_view bytes, const OnLine& on_line) {
    if (rest_.size() + bytes.size() > most_bytes_) return false;
    // Only the new bytes can hold a line feed, so a long line in many portions is searched once.
    std::size_t searched = rest_.size();
    rest_ += bytes;
    std::size_t begin = 0;
    for (std::size_t end; (end = rest_.find('\n', searched)) != std::string::npos;
         begin = searched = end + 1) {
      if (end > begin && !on_line(std::string_view(rest_).substr(begin, end - begin))) return false;
    }
    rest_.erase(0, begin);
    return true;
  }

  // Returns the number of bytes of the unfinished line.
  std::size_t held() const { return rest_.size(); }

 private:
  const std::size_t most_bytes_;
  std::string rest_;
};

}  // namespace crossover::kube
