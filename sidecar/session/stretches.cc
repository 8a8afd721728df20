#include "sidecar/session/stretches.h"

#include <algorithm>

namespace crossover::session {
namespace {

constexpr std::int32_t kWithoutEnd = 1 << 30;
constexpr std::int32_t kLeast = 16;  // launches; a turn with fewer is never an evaluation

}  // namespace

void Stretches::Begin(std::uint32_t asked) {
  before_ = 0;
  Arm(asked, usual_ == 0 ? kWithoutEnd : std::max(kLeast, 2 * usual_));
}

void Stretches::Next(std::uint32_t asked) {
  before_ += Passed();
  Arm(asked, std::max(kLeast, usual_ / 4));
}

void Stretches::End() {
  const std::int32_t launches = std::min(kWithoutEnd / 4, launched());
  // `usual_` at most doubles and falls slowly, so that one evaluation does not count as usual.
  usual_ = usual_ == 0 ? launches : std::max(std::min(launches, 2 * usual_), usual_ - usual_ / 8);
}

void Stretches::Arm(std::uint32_t asked, std::int32_t otherwise) {
  length_ = asked == 0 ? otherwise : static_cast<std::int32_t>(std::min<std::uint32_t>(asked, kWithoutEnd));
  launches_left.store(length_, std::memory_order_relaxed);
}

}  // namespace crossover::session
