// What a pod says in annotations and labels of ours, judged before it is made. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/annotations/ours.h"

namespace crossover::extender::admission {

// Says that a pod was rewritten, and for which annotations: what kAdmittedAnnotation holds, 16 hexadecimal
// digits. Anybody can make one; who does gains nothing, since pods that have it are rewritten all the same.
// So one for other annotations is no reason to refuse a pod: another webhook may have added some since.
std::string AdmittedMark(const std::string& name_space, const annotations::Annotations& annotations);

// Why a pod with these is refused, by key and value and what is allowed: values that are not allowed, unknown
// keys, keys that are written by Crossover alone, and labels where annotations count. Nothing where all is
// well.
std::optional<std::string> RefusalOf(const nlohmann::json& pod);

}  // namespace crossover::extender::admission
