// Checks a pod's annotations and labels in our domain before the pod is created. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>

#include "common/annotations/domain.h"

namespace crossover::extender::admission {

// Returns the value of kAdmittedAnnotation: 16 hexadecimal digits that stand for the namespace and these
// annotations. It says that a pod was rewritten, and for which annotations. Any user can set such a value,
// and gains nothing: the webhook rewrites the pod in any case. A value for other annotations is no reason to
// refuse a pod, because another webhook may have added some since.
std::string AdmittedMark(const std::string& name_space, const annotations::Annotations& annotations);

// Returns why the pod is refused: the key, what is expected and the value. Reasons are values that a rule
// refuses, unknown keys, keys that Crossover alone writes, and labels if an annotation is meant. Returns
// nothing for a pod without such faults.
std::optional<std::string> RefusalOf(const nlohmann::json& pod);
// Returns the refusal of the annotation crossover.dev/within if it names a label that is none of `labels`.
// Returns nothing for a pod without the annotation.
std::optional<std::string> RefusalOfWithin(const nlohmann::json& pod, std::span<const std::string> labels);

}  // namespace crossover::extender::admission
