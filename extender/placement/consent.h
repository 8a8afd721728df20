// Whose jobs may meet whose. Pure.
#pragma once

#include "extender/placement/settings.h"

namespace crossover::placement {

// Jobs of one namespace always; others where both consent to the cluster and their namespaces are in one of
// the groups that administrators list, if they list any.
bool MayMeet(const Gang& gang, const Gang& other, const Settings& settings);

}  // namespace crossover::placement
