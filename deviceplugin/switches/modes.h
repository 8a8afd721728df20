// Off switches: the annotation `crossover.dev/mode` on a pod, a namespace, a node, and on the namespace of
// the installation, where it holds for the whole cluster. The strictest holds. Pure.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "deviceplugin/arbiter/mode_rule.h"

namespace crossover::deviceplugin {

using Annotations = std::map<std::string, std::string>;

// Those annotations, or labels, of an object that are ours. `key`: "annotations" or "labels".
Annotations OursOf(const nlohmann::json& object, const char* key);

// kEnforce where it is not set, or not to anything that is allowed.
arbiter::Policy ModeIn(const Annotations& annotations);

// What is wrong with the switches of an object, such as "crossover.dev/mode: Off is not allowed: enforce,
// observe or off"; empty where nothing is.
std::string FaultIn(const Annotations& annotations);

}  // namespace crossover::deviceplugin
