// Cuts a stream of bytes into lines, in whatever portions the bytes come.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace crossover::kube {

class Lines {
 public:
  // `most_bytes`: of what is held at once, the newest portion among it.
  explicit Lines(std::size_t most_bytes) : most_bytes_(most_bytes) {}

  // Calls `on_line(std::string_view)` with each line that these bytes end, without its line feed; skips empty
  // lines. Returns false where `on_line` does, or where the bytes are too many: then nothing may be added.
  template <class OnLine>
  bool Add(std::string_view bytes, const OnLine& on_line) {
    if (rest_.size() + bytes.size() > most_bytes_) return false;
    // A line feed can only be in what is new: a long line in many portions is searched once.
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

  // Bytes of a line that has not ended.
  std::size_t held() const { return rest_.size(); }

 private:
  const std::size_t most_bytes_;
  std::string rest_;
};

}  // namespace crossover::kube
