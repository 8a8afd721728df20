// Off switches: the annotation `crossover.dev/mode` on a pod, a namespace, a node, and on the namespace of
// the installation, where it holds for the whole cluster. The strictest holds. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/annotations/ours.h"
#include "deviceplugin/arbiter/mode_rule.h"

namespace crossover::deviceplugin {

using annotations::Annotations;
using annotations::OursOf;

// kEnforce where it is not set, or not to anything that is allowed.
arbiter::Policy ModeIn(const Annotations& annotations);

// What is wrong with the switches of an object, a text each, such as "crossover.dev/mode: Off is not allowed:
// enforce, observe or off": values that are not allowed, and switches that are labels where only annotations
// count. Values are shown as annotations::Shown does.
std::vector<std::string> FaultsIn(const Annotations& annotations, const Annotations& labels);

}  // namespace crossover::deviceplugin
