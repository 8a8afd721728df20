#include "extender/admission/gpus.h"

#include <nlohmann/json.hpp>

#include "common/annotations/domain.h"
#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/kube/init_container_devices.h"
#include "common/kube/json.h"
#include "common/kube/quantity.h"

namespace crossover::extender::admission {
namespace {

using annotations::Shown;
using kube::At;
using kube::Text;
using nlohmann::json;

constexpr int kMostGpus = 1024;

// Returns the count that `quantity` says, or nothing if it is not a whole number from 0 to kMostGpus.
std::optional<int> GpuCountOf(const json& quantity) {
  const auto count = kube::CountOf(quantity);
  return count && *count <= kMostGpus ? std::optional(static_cast<int>(*count)) : std::nullopt;
}

// Returns how many units of `resource` the container asks for, or nothing if it does not name the resource.
// Sets `fault` if a quantity cannot be read, or if the request differs from the limit.
std::optional<int> Wanted(const json& container, const std::string& resource, std::string* fault) {
  const json& resources = At(container, "resources");
  std::optional<int> wanted;
  for (const char* part : {"limits", "requests"}) {
    const json& quantity = At(At(resources, part), resource.c_str());
    if (quantity.is_null()) continue;
    const std::string text = quantity.is_string() ? quantity.get<std::string>() : quantity.dump();
    const auto count = GpuCountOf(quantity);
    const std::string where = std::string(part) + "." + resource;
    if (!count) {
      *fault = base::Refusal(where, "0 to " + std::to_string(kMostGpus), Shown(text));
    } else if (wanted && *wanted != *count) {
      *fault = base::Refusal(where, "the limit's " + std::to_string(*wanted), std::to_string(*count));
    } else {
      wanted = count;
    }
  }
  return wanted;
}

// Returns `asking`, completed by what `container` says, or the fault as a text.
std::variant<ContainerRequest, std::string> Read(const json& container, ContainerRequest asking,
                                                 const std::vector<std::string>& whole,
                                                 const std::set<std::string>& given) {
  asking.name = Text(At(container, "name"));
  asking.sidecar = asking.init && Text(At(container, "restartPolicy")) == "Always";
  const std::string which = "container " + Shown(asking.name) + ": ";
  std::string fault;
  auto slots = Wanted(container, base::kSlotResource, &fault);
  asking.gpus = slots.value_or(0);
  for (const std::string& resource : whole) {
    const auto gpus = Wanted(container, resource, &fault);
    if (!gpus) continue;
    if (slots && asking.whole.empty() && given.contains(resource)) {
      asking.whole = resource;
      continue;
    }
    if (given.contains(base::kSlotResource)) slots.reset();
    if (slots || !asking.whole.empty()) {
      const std::string other = slots ? base::kSlotResource : asking.whole;
      return base::Refusal(which + "resources", resource + " or " + other, "both");
    }
    asking.gpus = *gpus;
    asking.whole = resource;
  }
  if (!fault.empty()) return which + fault;
  return asking;
}

}  // namespace

std::variant<std::vector<ContainerRequest>, std::string> GpusOf(const json& spec,
                                                                const std::vector<std::string>& whole,
                                                                const std::set<std::string>& given) {
  std::vector<ContainerRequest> all;
  for (const char* list : {"initContainers", "containers"}) {
    const json& containers = At(spec, list);
    if (!containers.is_array()) continue;
    for (std::size_t i = 0; i < containers.size(); ++i) {
      ContainerRequest asking;
      asking.list = list;
      asking.index = i;
      asking.init = std::string_view(list) == "initContainers";
      auto read = Read(containers[i], std::move(asking), whole, given);
      if (auto* fault = std::get_if<std::string>(&read)) return std::move(*fault);
      all.push_back(std::get<ContainerRequest>(std::move(read)));
    }
  }
  return all;
}

std::optional<std::string> Misplaced(const std::vector<ContainerRequest>& containers) {
  std::vector<kube::DeviceAsk> asking;
  for (const ContainerRequest& one : containers)
    asking.push_back({.name = Shown(one.name), .devices = one.gpus, .hands_on = one.init && !one.sidecar});
  std::string fault = kube::HandOut(asking);
  return fault.empty() ? std::nullopt : std::optional(std::move(fault));
}

}  // namespace crossover::extender::admission
