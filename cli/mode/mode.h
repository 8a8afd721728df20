// Runs `crossover mode`, which switches turns on this machine on or off without a restart.
#pragma once

#include <string>

namespace crossover::cli {

// Switches to `to`: off, observe, enforce or configured. Returns the exit code: 1 if the daemon does not
// answer.
int SwitchMode(const std::string& socket, const std::string& to);

}  // namespace crossover::cli
