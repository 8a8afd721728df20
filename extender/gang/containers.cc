#include "extender/gang/containers.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "common/kube/init_container_devices.h"

namespace crossover::extender {
namespace {

// Returns whether it is an init container that ends.
bool Plain(const Container& container) { return container.init && !container.sidecar; }

std::string Walk(const Pod& pod, const std::function<void(std::size_t index, int fresh)>& give) {
  std::vector<kube::DeviceAsk> asking;
  for (const Container& container : pod.containers)
    asking.push_back({.name = container.name, .devices = container.slots, .hands_on = Plain(container)});
  return kube::HandOut(asking, give);
}

}  // namespace

int GpusWanted(const Pod& pod) {
  int gpus = 0;
  for (const Container& container : pod.containers) gpus += Plain(container) ? 0 : container.slots;
  return gpus;
}

std::string FaultyContainers(const Pod& pod) {
  // Most pods do not hand GPUs on. This function runs often for every pod, so it returns early for them.
  const auto hands_on = [](const Container& container) { return container.slots > 0 && Plain(container); };
  return std::ranges::any_of(pod.containers, hands_on) ? Walk(pod, nullptr) : "";
}

std::optional<ByContainer> Distribute(const Pod& pod, std::span<const std::string> gpus) {
  if (static_cast<int>(gpus.size()) != GpusWanted(pod)) return std::nullopt;
  ByContainer given;
  std::vector<std::string> left_over;
  std::size_t next = 0;
  const std::string fault = Walk(pod, [&](std::size_t index, int fresh) {
    const Container& container = pod.containers[index];
    std::vector<std::string> mine = std::exchange(left_over, {});
    for (int i = 0; i < fresh && next < gpus.size(); ++i) mine.push_back(gpus[next++]);
    if (Plain(container)) left_over = mine;
    given[container.name] = std::move(mine);
  });
  if (!fault.empty()) return std::nullopt;
  return given;
}

}  // namespace crossover::extender
