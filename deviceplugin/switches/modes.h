// Off switches: the annotation `crossover.dev/mode` on a pod, a namespace, a node, and on the namespace of
// the installation, where it holds for the whole cluster. The strictest holds. Pure.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "deviceplugin/arbiter/mode_rule.h"

namespace crossover::deviceplugin {

using Annotations = std::map<std::string, std::string>;

// Those annotations, or labels, of an object that are ours. `key`: "annotations" or "labels".
Annotations OursOf(const nlohmann::json& object, const char* key);

// kEnforce where it is not set, or not to anything that is allowed.
arbiter::Policy ModeIn(const Annotations& annotations);

// What is wrong with the switches of an object, a text each, such as "crossover.dev/mode: Off is not allowed:
// enforce, observe or off": values that are not allowed, and switches that are labels where only annotations
// count. Values are cut where they are long, and printable.
std::vector<std::string> FaultsIn(const Annotations& annotations, const Annotations& labels);

}  // namespace crossover::deviceplugin
