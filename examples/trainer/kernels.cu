// Implements the kernels for a real GPU: the arithmetic of ops.h over all threads, then a spin until the
// requested duration has passed. The duration of each kernel is a setting of the trainer; its arithmetic is
// not.
#include "examples/trainer/expert_ops.h"
#include "examples/trainer/stage_ops.h"

namespace crossover::trainer {
namespace {

__device__ unsigned long long GlobalTimer() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

template <typename Op>
__device__ void Run(unsigned long long duration_ns, const State* state, unsigned long long iteration,
                    unsigned a, unsigned b) {
  const unsigned long long begin = GlobalTimer();
  const ops::Call call{*state, iteration, a, b};
  const std::uint32_t count = Op::Count(call);
  const std::uint32_t threads = gridDim.x * blockDim.x;
  for (std::uint32_t e = blockIdx.x * blockDim.x + threadIdx.x; e < count; e += threads) Op::Apply(call, e);
  while (GlobalTimer() - begin < duration_ns) __nanosleep(200);
}

}  // namespace
}  // namespace crossover::trainer

#define DEFINE_KERNEL(name, sms)                                                                      \
  extern "C" __global__ void name(unsigned long long duration_ns, const crossover::trainer::State* s, \
                                  unsigned long long iteration, unsigned a, unsigned b) {             \
    crossover::trainer::Run<crossover::trainer::ops::name>(duration_ns, s, iteration, a, b);          \
  }
TRAINER_KERNELS(DEFINE_KERNEL)
#undef DEFINE_KERNEL
