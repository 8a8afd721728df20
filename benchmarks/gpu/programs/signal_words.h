// Makes the memory of signal words as the signaller does, and imports it as clients do, by the code that
// ships.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "deviceplugin/signaller/signal_memory.h"
#include "sidecar/gates/driver.h"

namespace crossover::bench {

// The area of the memory that the programs here use.
inline constexpr std::uint32_t kArea = 1;

// A Maker is a process that has made signal memory, with a context outside MPS. The descriptor of the memory
// is open in the caller and in all processes that it forks from now on.
struct Maker {
  pid_t pid = -1;
  int socket = -1;  // it closes this to end the maker
  int memory = -1;
  std::size_t bytes = 0;
};

// Forks a maker. It calls `serve` with its memory and its end of the socket, and ends when that returns.
// `no_mps` is an empty folder. A driver that refuses ends the program, which names the call. REQUIRES: this
// process has not used the driver.
using Serve = std::function<void(const std::shared_ptr<signaller::SignalMemory>& memory, int socket)>;
Maker StartMaker(const char* no_mps, const Serve& serve);

// Returns whether the socket of a maker has been closed at its other end.
bool Closed(int socket);

// Ends the program with one line unless `good`.
void Require(bool good, const char* what, const char* error);

// Returns the driver as the library's gates call it.
const gates::Driver& GateDriver();

// Imports the memory into the current context, and returns the device address of the lines of kArea.
CUdeviceptr ImportLines(const Maker& maker);

}  // namespace crossover::bench
