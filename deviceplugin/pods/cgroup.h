// Which pod a process belongs to, by its control groups. The parsing is pure.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "deviceplugin/arbiter/peer.h"

namespace crossover::deviceplugin {

// The UID of the pod in the text of /proc/PID/cgroup: of the pod's group that the kubelet made, below its own
// at `root`, since a pod may make groups of any name within its own, and others elsewhere. `root`: a path
// without the first slash; empty: the top. Nothing for a process of no pod, and where two hierarchies do not
// agree.
std::optional<std::string> PodUidOf(std::string_view cgroups, std::string_view root);

// The root of the kubelet that a process with these groups is a pod's of; empty where it is none's.
std::string KubeletsRootIn(std::string_view cgroups);

// The UID of the pod that the process at the other end of a socket belongs to. Nothing where it belongs to
// none, or is gone by now: its number may be another's.
std::optional<std::string> PodUidOf(const arbiter::Peer& peer, std::string_view root);

// Of whatever process has that number now.
std::optional<std::string> PodUidOf(pid_t pid, std::string_view root);

}  // namespace crossover::deviceplugin
