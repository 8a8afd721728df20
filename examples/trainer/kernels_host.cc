// Implements the arithmetic of the kernels as host functions. The software GPU calls them when it runs a
// kernel of the text image (image.cc). It finds them by name, so the program exports its symbols.
#include "examples/trainer/kernels_host.h"

#include <cstring>

#include "examples/trainer/expert_ops.h"
#include "examples/trainer/stage_ops.h"

namespace crossover::trainer {
namespace {

template <typename T>
T Read(const void* argument) {
  T value;
  std::memcpy(&value, argument, sizeof value);
  return value;
}

// The software GPU uses args[0], the duration, itself.
template <typename Op>
void Run(void* const* args) {
  const State state =
      *Read<const State*>(args[1]);  // a copy, so that no store can be one to the state itself
  const ops::Call call{state, Read<std::uint64_t>(args[2]), Read<std::uint32_t>(args[3]),
                       Read<std::uint32_t>(args[4])};
  const std::uint32_t count = Op::Count(call);
  for (std::uint32_t e = 0; e < count; ++e) Op::Apply(call, e);
}

}  // namespace
}  // namespace crossover::trainer

#define DEFINE_KERNEL(name, sms)                                  \
  extern "C" void trainer_##name(void* const* args) {             \
    crossover::trainer::Run<crossover::trainer::ops::name>(args); \
  }
TRAINER_KERNELS(DEFINE_KERNEL)
#undef DEFINE_KERNEL
