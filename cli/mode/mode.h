// crossover mode: switches the taking of turns on this machine, at once.
#pragma once

#include <string>

namespace crossover::cli {

// `to`: off, observe, enforce or configured. Returns the exit code: 1 where the daemon does not answer.
int SwitchMode(const std::string& socket, const std::string& to);

}  // namespace crossover::cli
