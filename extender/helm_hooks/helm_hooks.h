// Runs the tasks of the Helm chart's hooks, around an installation. Each function returns a program's exit
// code. It prints what it found to standard output and what failed to standard error.
#pragma once

#include <string>

#include "common/kube/access.h"

namespace crossover::extender {

// Prints the pods that hold slots, fifty at most. Returns 0 if no pod holds one, 1 if some do, 2 if the API
// server could not be asked. If the daemon of a node is gone, nothing removes pods from its GPUNode. So a
// pod counts only if the API server still has it or cannot tell. A pod that was deleted by force does not
// count, even if its containers still run.
int ListHolders(const kube::Access& access);

// Asks the API server to create a pod that shares, as a dry run. Returns 0 if the webhook rewrote the pod,
// 1 if it did not or the pod was refused, 2 if there was no answer.
int TryWebhook(const kube::Access& access, const std::string& name_space);

// Do the same with the access of the pod that this program runs in.
int ListHolders();
int TryWebhook(const std::string& name_space);

}  // namespace crossover::extender
