// What a pod says in annotations and labels of ours, judged before it is made. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/annotations/ours.h"

namespace crossover::extender::admission {

// Says that a pod was rewritten, and for which annotations: what kAdmittedAnnotation holds. Anybody can make
// it; who does gains nothing, since pods that have it are rewritten all the same.
std::string AdmittedMark(const std::string& name_space, const annotations::Annotations& annotations);

// Why a pod with these is refused, by key and value and what is allowed: values that are not allowed, unknown
// keys, keys that are written by Crossover alone, and labels where annotations count. Nothing where all is
// well.
std::optional<std::string> RefusalOf(const nlohmann::json& pod, const std::string& name_space);

}  // namespace crossover::extender::admission
