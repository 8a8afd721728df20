#include "extender/cluster/model.h"

#include <algorithm>

namespace crossover::extender {

// Once an init container has ended, the kubelet gives its slots to the containers after it. Init containers
// therefore count by their maximum, not by their sum.
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
