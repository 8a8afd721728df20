// Makes the words of a client in each state of turn 1, 2, 3, .... Each turn has one stretch.
#pragma once

#include <cstdint>

#include "turn/client_words.h"

namespace crossover::turn::test {

inline ClientWords Idle(std::uint32_t turn) {
  const TurnNumber k = FirstStretch(turn);
  return {k, k, k, LastStretch(k)};
}
inline ClientWords Waiting(std::uint32_t turn) {
  const TurnNumber before = FirstStretch(turn - 1);
  return {FirstStretch(turn), before, before, LastStretch(before)};
}
inline ClientWords Holding(std::uint32_t turn) {
  return {FirstStretch(turn), FirstStretch(turn), FirstStretch(turn - 1), LastStretch(FirstStretch(turn))};
}

}  // namespace crossover::turn::test
