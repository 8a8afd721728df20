// What MPS limits a client to: CUDA_MPS_ACTIVE_THREAD_PERCENTAGE, and the control daemon's own percentage.
// Pure.
#pragma once

#include <string>

namespace simgpu {

// The percentage of a client whose environment says `text` (null: nothing) under a daemon that says `daemon`:
// the lower of the two, as the variable can only constrain a client further. NVIDIA's pages do not say what
// becomes of a value that is no number above 0 and up to 100: here it changes nothing, and *complaint says so
// in a line.
double ActiveThreadPercentage(const char* text, double daemon, std::string* complaint);

// SMs of a GPU of `gpu_sms` that such a client may use at once: rounded down, at least one.
double SmsOfPercentage(double percentage, int gpu_sms);

}  // namespace simgpu
