// Determines which pod a process belongs to, from its control groups. The parsing is pure.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>

#include "deviceplugin/arbiter/peer.h"

namespace crossover::deviceplugin {

// Returns the UID of the pod in `cgroups`, the text of /proc/PID/cgroup. Only a group that the kubelet
// created for a pod counts. It lies below the kubelet's own group, which is at `root`. Other groups prove
// nothing: a pod may create groups of any name within its own, and other software may create groups
// elsewhere. `root` is a path without the leading slash; empty is the root of the hierarchy. Returns nullopt
// for a process that is in no pod, and if two hierarchies name different pods.
std::optional<std::string> PodUidOf(std::string_view cgroups, std::string_view root);

// Returns the `root` of the kubelet whose pod a process with these groups is in. Returns an empty string if
// the kubelet's groups are at the top, or if the process is in no pod.
std::string KubeletsRootIn(std::string_view cgroups);

// Returns the control groups of the process at the other end of a socket, as the text of /proc/PID/cgroup.
// Returns nullopt if it cannot be sure of them: this daemon cannot see the process, or the process ID may
// belong to another process by now.
std::optional<std::string> CgroupsOf(const arbiter::Peer& peer);

// Returns the UID of the pod of the process at the other end of a socket. Returns nullopt if the process is
// in no pod, or has ended: its process ID may then belong to another process.
std::optional<std::string> PodUidOf(const arbiter::Peer& peer, std::string_view root);

// Returns the UID of the pod of the process that has the ID `pid` now.
std::optional<std::string> PodUidOf(pid_t pid, std::string_view root);

}  // namespace crossover::deviceplugin
