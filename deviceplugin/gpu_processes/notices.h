// Derives, from processes that take no part in turns, which GPUs have no turns and which events their pods
// get. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/kube/events.h"
#include "deviceplugin/gpu_processes/gpu_process.h"
#include "deviceplugin/pods/allocation_index.h"
#include "deviceplugin/pods/pod.h"

namespace crossover::deviceplugin {

struct UnhookedNotices {
  std::map<std::string, std::string> held;  // by UUID: why the GPU has no turns
  // Holds events for the pods of such processes, unless a switch has turned the pod off, and for all other
  // pods with a slot of the GPU. The texts have no process IDs or names, so the same fault always has the
  // same text. They call a pod of another namespace "another job".
  std::vector<kube::Event> events;
};

// Returns whether the pod asked for whole GPUs, as users should for a program that cannot take part in
// turns.
bool SharesWithNone(const Pod& pod);

// Returns the notices for `unhooked`, the processes of pods with a slot that take no part. A pod that asked
// for whole GPUs and shares its GPU with no other pod causes no notice. `pods` are those of the node.
// `holders` has the slots that the kubelet gave out. `is_off` returns whether a switch has turned a pod
// off.
UnhookedNotices NoticesOf(const std::vector<GpuProcess>& unhooked, const std::vector<Pod>& pods,
                          const SlotHolders& holders, const std::function<bool(const Pod&)>& is_off);

}  // namespace crossover::deviceplugin
