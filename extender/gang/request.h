// What a gang asks of the placement engine, from its pods' annotations and what is known of its job. Pure.
#pragma once

#include <span>
#include <string>

#include "extender/cluster/world.h"
#include "extender/gang/membership.h"
#include "extender/placement/model.h"

namespace crossover::extender {

struct Request {
  placement::Gang gang;
  std::string fault;          // key, value and what is allowed; then `gang` is not to be placed
  bool names_memory = false;  // its pods say themselves what of a GPU's memory they may have
};

// `members` are one gang's, at least one. `pods` of them are to be placed.
Request RequestOf(const Membership& membership, std::span<const Pod* const> members, int pods,
                  const World& world);

}  // namespace crossover::extender
