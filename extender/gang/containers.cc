#include "extender/gang/containers.h"

#include <utility>

namespace crossover::extender {
namespace {

bool Plain(const Container& container) { return container.init && !container.sidecar; }

// Calls `give(container, kept, fresh)`: it takes all that is left over, `kept`, and so many more.
template <typename Give>
std::string Walk(const Pod& pod, Give give) {
  int left_over = 0;
  std::string whose;
  for (const Container& container : pod.containers) {
    if (container.slots <= 0) continue;
    if (container.slots < left_over) {
      return "container " + container.name + " asks for " + std::to_string(container.slots) +
             " GPUs, init container " + whose + " before it for " + std::to_string(left_over) +
             ": a kubelet would choose among those at random; allowed is as many or more";
    }
    give(container, container.slots - left_over);
    left_over = Plain(container) ? container.slots : 0;
    whose = container.name;
  }
  if (left_over > 0) {
    return "init container " + whose + " asks for " + std::to_string(left_over) +
           " GPUs, no container after it for any";
  }
  return "";
}

}  // namespace

int GpusWanted(const Pod& pod) {
  int gpus = 0;
  for (const Container& container : pod.containers) gpus += Plain(container) ? 0 : container.slots;
  return gpus;
}

std::string FaultyContainers(const Pod& pod) {
  return Walk(pod, [](const Container&, int) {});
}

std::optional<ByContainer> Distribute(const Pod& pod, std::span<const std::string> gpus) {
  if (static_cast<int>(gpus.size()) != GpusWanted(pod)) return std::nullopt;
  ByContainer given;
  std::vector<std::string> left_over;
  std::size_t next = 0;
  const std::string fault = Walk(pod, [&](const Container& container, int fresh) {
    std::vector<std::string> mine = std::exchange(left_over, {});
    for (int i = 0; i < fresh && next < gpus.size(); ++i) mine.push_back(gpus[next++]);
    if (Plain(container)) left_over = mine;
    given[container.name] = std::move(mine);
  });
  if (!fault.empty()) return std::nullopt;
  return given;
}

}  // namespace crossover::extender
