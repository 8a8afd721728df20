// Prepares pods whose owners ask for compressed reductions (crossover.dev/shrink). Pure.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace crossover::extender::admission {

// The levels, beside off, that an administrator allows. None: all that this version has.
using AllowedShrinkLevels = std::optional<std::vector<std::string>>;

// Returns why the pod is refused: an administrator does not allow the level, or the pod does not share.
// Returns nothing for a pod that asks for no level. REQUIRES: the annotation has a value that its rule
// accepts.
std::optional<std::string> RefusalOfShrink(const nlohmann::json& pod, const AllowedShrinkLevels& allowed);

// Returns why a container cannot load the library: its LD_PRELOAD comes from elsewhere, so that nothing can
// be put in front of it. Returns nothing if it can.
std::optional<std::string> WhyNotPreloaded(const nlohmann::json& container);

// Returns the level that the annotations of `pod` ask for, or "" for none.
std::string ShrinkLevelOf(const nlohmann::json& pod);

// Makes the container's processes load the library that compresses, in front of ours and of what the
// container loads itself, and tells it the level. Replaces a CROSSOVER_SHRINK that the user set. With auto
// the level that was chosen comes from an annotation, which is written before the containers start. REQUIRES:
// WhyNotPreloaded() returns nothing.
void PreloadShrink(const std::string& level, nlohmann::json* container);

}  // namespace crossover::extender::admission
