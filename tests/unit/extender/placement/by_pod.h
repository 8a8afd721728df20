// Makes room as schedulers do that know no gangs, for comparison.
#pragma once

#include "tests/unit/extender/placement/scene.h"

namespace crossover::placement {

// A ByPod counts what becomes of a scene if each pod of the newcomer takes the place of other pods by itself,
// as schedulers do that know no gangs.
struct ByPod {
  int halves = 0;   // gangs that lose some of their pods and keep others
  int in_vain = 0;  // gangs that lose pods, though the newcomer is not whole afterwards
};
ByPod MakeRoomByPod(const Scene& scene);

}  // namespace crossover::placement
