// Decides whether the users of two jobs allow them to share GPUs. Pure.
#pragma once

#include "extender/placement/settings.h"

namespace crossover::placement {

// Returns whether the two gangs may share GPUs. Gangs of one namespace always may. Gangs of two namespaces
// may if both consent to the whole cluster and, if administrators list namespace groups, one group has both
// namespaces.
bool MayMeet(const Gang& gang, const Gang& other, const Settings& settings);

}  // namespace crossover::placement
