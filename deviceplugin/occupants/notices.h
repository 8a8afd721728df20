// What follows from processes that take no part: which GPUs nobody takes turns on, and what pods are told of
// it. Pure.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/kube/events.h"
#include "deviceplugin/occupants/occupant.h"
#include "deviceplugin/pods/pod.h"
#include "deviceplugin/pods/slot_book.h"

namespace crossover::deviceplugin {

struct UnhookedNotices {
  std::map<std::string, std::string> held;  // GPUs on which no turns are taken, and why
  // For the pods of such processes, but those that are off by a switch, and for all others with a slot of the
  // GPU. Without numbers and names of processes, so that the same fault has the same words; a pod of another
  // namespace is "another job".
  std::vector<kube::Event> events;
};

// It asked for whole GPUs: what a program that cannot take part is told to do.
bool SharesWithNobody(const Pod& pod);

// Nothing follows from a pod that shares with nobody and has no neighbour.
// `unhooked`: processes of pods with a slot; `pods`: of the node; `holders`: what the kubelet has given out.
UnhookedNotices NoticesOf(const std::vector<Occupant>& unhooked, const std::vector<Pod>& pods,
                          const SlotHolders& holders, const std::function<bool(const Pod&)>& is_off);

}  // namespace crossover::deviceplugin
