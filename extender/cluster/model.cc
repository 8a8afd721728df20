#include "extender/cluster/model.h"

#include <algorithm>

namespace crossover::extender {

// A kubelet gives the slots of a container that initialised and ended to those that come after it.
int Pod::slots() const {
  int together = 0, sidecars = 0, most = 0;
  for (const Container& container : containers) {
    if (!container.init) {
      together += container.slots;
    } else if (container.sidecar) {
      sidecars += container.slots;
    } else {
      most = std::max(most, sidecars + container.slots);
    }
  }
  return std::max(most, together + sidecars);
}

}  // namespace crossover::extender
