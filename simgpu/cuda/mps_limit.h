// Computes what MPS limits a client to, from CUDA_MPS_ACTIVE_THREAD_PERCENTAGE and the control daemon's own
// percentage. Pure.
#pragma once

#include <string>

namespace simgpu {

// Returns the percentage of a client. `text` is the variable in its environment, or null if it is not set;
// `daemon` is the daemon's percentage. The lower one holds, because the variable can only limit a client
// further. NVIDIA's pages do not say what happens if the value is not a number above 0 and up to 100. Here
// it is ignored, and *complaint gets one line about it.
double ActiveThreadPercentage(const char* text, double daemon, std::string* complaint);

// Returns how many SMs of a GPU of `gpu_sms` SMs a client with this percentage may use at once: rounded down,
// at least 1.
double SmsOfPercentage(double percentage, int gpu_sms);

}  // namespace simgpu
