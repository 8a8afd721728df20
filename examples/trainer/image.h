// The two forms of the trainer's kernels that cuModuleLoadData is given.
#pragma once

#include <string>

namespace crossover::trainer {

// kernels.cu compiled for real GPUs; nullptr if the build had no CUDA compiler.
const void* FatbinImage();

// The description that the software GPU understands: each kernel with its duration as first argument and the
// host function that does its arithmetic. How many SMs it asks for is left to the grid of its launches.
std::string TextImage();

}  // namespace crossover::trainer
