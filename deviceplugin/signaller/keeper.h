// Keeps signallers for all GPUs of a machine: each is a process of its own, so that a fault of the driver on
// one GPU, or the end of one signaller, reaches no other. The keeper itself never touches the driver, so a
// GPU can be reset once its signallers have ended.
#pragma once

#include <string>

#include "deviceplugin/signaller/options.h"

namespace crossover::signaller {

// Starts `options.count` signallers for each GPU of the machine, and starts those again
// that end. The GPUs are listed again when a signaller has ended. Returns 0 after SIGTERM or SIGINT, when all
// of them have ended. If the keeper is killed, they end with it. REQUIRES: the process has one thread.
int Keep(const Options& options);

// Writes a line for each GPU of this machine to standard output, its UUID. Returns false, with the reason in
// `error`, on failure.
bool ListGpus(const Options& options, std::string* error);

}  // namespace crossover::signaller
