// Reads the mode switch: the annotation `crossover.dev/mode` on a pod, a namespace, a node, or the namespace
// of the installation, if it applies to the whole cluster. The strictest of these holds. Pure.
#pragma once

#include <string>
#include <vector>

#include "common/annotations/domain.h"
#include "deviceplugin/arbiter/mode_rule.h"

namespace crossover::deviceplugin {

using annotations::Annotations;
using annotations::OursOf;

// Returns the mode in the annotations, or kEnforce if it is not set or not valid.
arbiter::Policy ModeIn(const Annotations& annotations);

// Returns the errors in the switches of an object, one text each, such as "crossover.dev/mode: expected
// enforce, observe or off, got Off". An error is a value that the rule refuses, or a switch that is a label,
// because only annotations count. Texts show values as annotations::Shown() does.
std::vector<std::string> FaultsIn(const Annotations& annotations, const Annotations& labels);

}  // namespace crossover::deviceplugin
