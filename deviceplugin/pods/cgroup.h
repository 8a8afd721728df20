// Which pod a process belongs to, by its control groups. The parsing is pure.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "deviceplugin/arbiter/peer.h"

namespace crossover::deviceplugin {

// The UID of the pod in the text of /proc/PID/cgroup: of the first pod on the path from the root, below the
// kubelet's own group, since a pod may make groups of any name within its own. Nothing for a process of no
// pod, and where two hierarchies do not agree.
std::optional<std::string> PodUidOf(std::string_view cgroups);

// The UID of the pod that the process at the other end of a socket belongs to. Nothing where it belongs to
// none, or is gone by now: its number may be another's.
std::optional<std::string> PodUidOf(const arbiter::Peer& peer);

}  // namespace crossover::deviceplugin
