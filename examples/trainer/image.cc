#include "examples/trainer/image.h"

#include "examples/trainer/program.h"

// These are in fatbin.S.
extern "C" const unsigned char trainer_fatbin[];
extern "C" const unsigned long long trainer_fatbin_size;

namespace crossover::trainer {

const void* FatbinImage() { return trainer_fatbin_size == 0 ? nullptr : trainer_fatbin; }

std::string TextImage() {
  std::string text = "// simgpu 1\n";
  for (const KernelInfo& kernel : kKernelInfo) {
    text += "kernel " + std::string(kernel.name) + " ns=arg args=8,8,8,4,4 fn=trainer_" + kernel.name + "\n";
  }
  return text;
}

}  // namespace crossover::trainer
