// libs: crossover::kube
// Reads the answer to a watch, in portions that the input chooses. However it is cut,
// the same lines come out. A list begins before anything is listed and ends once, and only objects are told.
// If a watch ends, the next one goes on from a version that the server has named, or lists anew.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "common/kube/json.h"
#include "common/kube/lines.h"
#include "common/kube/pages.h"
#include "common/kube/watch_lines.h"
#include "tests/fuzz/require.h"

using crossover::fuzz::Require;
using crossover::kube::Lines;
using crossover::kube::WatchLines;
using nlohmann::json;

namespace {

constexpr std::size_t kMostBytes = 1 << 16;

class Checked final : public crossover::kube::ListSink {
 public:
  void OnListBegin() override { listing_ = true; }
  void OnListed(json&& object) override {
    Require(listing_ && object.is_object());
    ++told_;
  }
  void OnListEnd() override {
    Require(listing_);
    listing_ = false;
  }
  void OnChange(const json& object) override {
    Require(!listing_ && object.is_object());
    ++told_;
  }
  void OnDelete(const json& object) override {
    Require(object.is_object());
    ++told_;
  }

  bool listing() const { return listing_; }
  int told() const { return told_; }

 private:
  bool listing_ = false;
  int told_ = 0;
};

// A Watch is one watch, as ListWatch asks for it.
class Watch {
 public:
  explicit Watch(bool streamed) {
    lines_.Note("1");  // of the watch before
    if (!streamed) return;
    lines_.Lose();
    lines_.BeginList();
  }

  bool Hear(std::string_view line) {
    Require(!line.empty() && line.find('\n') == line.npos);
    const std::string newest = lines_.newest();
    const bool listing = sink_.listing();
    const int told = sink_.told();
    const WatchLines::Heard heard = lines_.Hear(line);
    Require(sink_.told() - told <= 1);
    Require(newest.empty() || !lines_.newest().empty());
    Require((heard == WatchLines::Heard::kListed) == (listing && !sink_.listing()));
    if (heard == WatchLines::Heard::kProgress) {
      Require(!sink_.listing() && !lines_.version().empty() && lines_.version() == lines_.newest());
    }
    if (heard == WatchLines::Heard::kLost) Require(lines_.version().empty());
    if (heard == WatchLines::Heard::kCannotStream) Require(listing);
    // The version becomes part of a URL.
    for (const char c : crossover::kube::Escaped(lines_.version())) Require(c > ' ' && c < 127 && c != '&');
    return heard == WatchLines::Heard::kNothing || heard == WatchLines::Heard::kProgress ||
           heard == WatchLines::Heard::kListed;
  }

  void End() { Require(lines_.EndList() == sink_.listing()); }

 private:
  Checked sink_;
  WatchLines lines_{&sink_, {"images"}};
};

// Returns the lines of a text, without regard to portions.
std::vector<std::string_view> LinesOf(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t end; (end = text.find('\n')) != text.npos; text.remove_prefix(end + 1)) {
    if (end > 0) lines.push_back(text.substr(0, end));
  }
  return lines;
}

}  // namespace

// The first byte says whether a list is streamed, and the second how long portions are.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2 || size > kMostBytes) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::vector<std::string_view> expected = LinesOf(text);
  Watch watch((data[0] & 1) != 0);
  Lines lines(kMostBytes);
  std::size_t heard = 0;
  bool goes_on = true;
  const auto on_line = [&](std::string_view line) {
    Require(goes_on && heard < expected.size() && line == expected[heard]);
    ++heard;
    goes_on = watch.Hear(line);
    return goes_on;
  };
  const std::size_t step = std::size_t{1} + data[1];
  for (std::size_t at = 0; at < text.size() && goes_on; at += step) {
    Require(lines.Add(text.substr(at, step), on_line) == goes_on);
  }
  if (goes_on) {
    Require(heard == expected.size());
    Require(lines.held() == text.size() - std::min(text.rfind('\n') + 1, text.size()));
  }
  watch.End();
  return 0;
}
