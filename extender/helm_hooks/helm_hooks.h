// Runs the tasks of the Helm chart's hooks, around an installation. Each function returns a program's exit
// code. It prints what it found to standard output and what failed to standard error.
#pragma once

#include <string>

#include "common/kube/access.h"

namespace crossover::extender {

// Prints the pods that hold slots or are about to, fifty at most. Returns 0 if there is none, 1 if there are
// some, 2 if the API server could not be asked. It reads the pods themselves: the status of a GPUNode is some
// seconds late, and nothing removes pods from it once the daemon of the node is gone. A pod that was deleted
// by force does not count, even if its containers still run.
int ListHolders(const kube::Access& access);

// Asks the API server to create a pod that shares, as a dry run. Returns 0 if the webhook rewrote the pod,
// 1 if it did not or the pod was refused, 2 if there was no answer.
int TryWebhook(const kube::Access& access, const std::string& name_space);

// Calls ListHolders(access) with the access of the pod that this program runs in, and returns its result.
int ListHolders();
// Calls TryWebhook(access, name_space) with the access of the pod that this program runs in, and returns its
// result.
int TryWebhook(const std::string& name_space);

}  // namespace crossover::extender
