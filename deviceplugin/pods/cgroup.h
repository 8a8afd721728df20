// Determines which pod a process belongs to, from its control groups. The parsing is pure.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "deviceplugin/arbiter/peer.h"

namespace crossover::deviceplugin {

// Returns the UID of the pod in `cgroups`, the text of /proc/PID/cgroup. Only a group counts that the
// kubelet created for a pod, below the kubelet's own group at `root`. Other groups prove nothing: a pod may
// create groups of any name within its own, and other software may create groups elsewhere. `root` is a path
// without the leading slash; empty is the root of the hierarchy. Returns nullopt for a process that is in no
// pod, and if two hierarchies name different pods.
std::optional<std::string> PodUidOf(std::string_view cgroups, std::string_view root);

// Returns the `root` of the kubelet whose pod a process with these groups is in. Returns an empty string if
// the kubelet's groups are at the top, or if the process is in no pod.
std::string KubeletsRootIn(std::string_view cgroups);

// Returns the control groups of the process at the other end of a socket, as /proc/PID/cgroup has them.
// Returns nullopt where they cannot be read for sure: the process cannot be seen, or its process ID may
// belong to another process by now.
std::optional<std::string> CgroupsOf(const arbiter::Peer& peer);

// Returns the UID of the pod of the process at the other end of a socket. Returns nullopt if the process is
// in no pod, or has ended: its process ID may then belong to another process.
std::optional<std::string> PodUidOf(const arbiter::Peer& peer, std::string_view root);

// Returns the UID of the pod of the process that has the ID `pid` now.
std::optional<std::string> PodUidOf(pid_t pid, std::string_view root);

}  // namespace crossover::deviceplugin
