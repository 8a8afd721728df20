// Provides the two forms of the trainer's kernels for cuModuleLoadData.
#pragma once

#include <string>

namespace crossover::trainer {

// Returns kernels.cu compiled for real GPUs, or nullptr if the build had no CUDA compiler.
const void* FatbinImage();

// Returns the text that the software GPU understands. It names each kernel with its duration as first
// argument and with the host function that does its arithmetic. It does not state SMs: the grid of each
// launch decides.
std::string TextImage();

}  // namespace crossover::trainer
