// Reads how many GPUs, whole ones or slots, the containers of a pod ask for. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

namespace crossover::extender::admission {

// A ContainerRequest is what one container asks for.
struct ContainerRequest {
  const char* list = "";  // the list in the pod's spec: initContainers or containers
  std::size_t index = 0;  // position in that list
  std::string name;
  bool init = false;
  bool sidecar = false;  // an init container that keeps running
  int gpus = 0;
  // Names the resource by which the container asks for whole GPUs. It is empty if the container does not name
  // such a resource. If the container asks for slots, too, a LimitRange gave it the whole GPUs.
  std::string whole;
};

// Returns what each container asks for, in the order in which the kubelet starts them. `whole` names the
// resources whose unit is a whole GPU. `given` names the resources that a LimitRange gives to each container
// that does not name them. Returns a text with the fault if a quantity is not a count, a request differs from
// its limit, or a container asks for both kinds. Whole GPUs of `given` beside slots are no fault, and neither
// are slots of `given` beside whole GPUs: the container did not ask for them, and they do not count.
std::variant<std::vector<ContainerRequest>, std::string> GpusOf(const nlohmann::json& spec,
                                                                const std::vector<std::string>& whole,
                                                                const std::set<std::string>& given = {});

// Returns what is wrong if the GPUs of each container are not certain, or if no later container asks for
// the slots of an init container; else nothing. The kubelet hands the slots of plain init containers that
// have ended to later containers (common/kube/init_container_devices.h).
std::optional<std::string> Misplaced(const std::vector<ContainerRequest>& containers);

}  // namespace crossover::extender::admission
