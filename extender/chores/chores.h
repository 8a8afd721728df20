// What has to be done around an installation, rather than by it: the chart's hooks. Each returns a program's
// exit code, and says what it found on standard output, what went wrong on standard error.
#pragma once

#include <string>

#include "common/kube/access.h"

namespace crossover::extender {

// Lists the pods that hold slots, fifty at most. 0: none does; 1: some do; 2: it could not be looked at.
// Nobody takes a pod out of the GPUNode of a node whose daemon is gone, so each counts that the API server
// still has, or cannot say of: not one that was deleted by force, whatever its containers do.
int ListHolders(const kube::Access& access);

// Asks for a pod that shares and is not kept. 0: it was made to share; 1: it was not, or was refused; 2:
// nobody answered.
int TryWebhook(const kube::Access& access, const std::string& name_space);

// Either, as a pod of the cluster.
int ListHolders();
int TryWebhook(const std::string& name_space);

}  // namespace crossover::extender
