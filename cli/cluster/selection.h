// Which nodes pods may be on, by the nodes' labels. Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>

namespace crossover::cli {

// Whether the nodeSelector and the required node affinity of `pod`, which may be the template of one, let it
// onto `node`. Taints, matchFields and operators other than In, NotIn, Exists and DoesNotExist are not looked
// at: they exclude nothing.
bool MayBeOn(const nlohmann::json& pod, const nlohmann::json& node);

}  // namespace crossover::cli
