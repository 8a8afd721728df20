// Defines the kernels: those that narrow floats to bf16 and widen them, and those of the exchange with 8
// bits. kernels.ptx is what clang makes of this file, without a CUDA toolkit;
// tests/unit/shrink/kernels/test_image.py has the command, and compares the two.
//
// For bf16 each thread takes every n-th element, where n is the number of threads of the launch. So any grid
// serves. The others need blocks of kThreads threads, in any number.
#include "shrink/codec/bf16.h"
#include "shrink/kernels/q8_threads.h"

namespace {

__attribute__((device)) unsigned long long First() {
  return static_cast<unsigned long long>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}

__attribute__((device)) unsigned long long Threads() {
  return static_cast<unsigned long long>(__nvvm_read_ptx_sreg_nctaid_x()) * __nvvm_read_ptx_sreg_ntid_x();
}

// Runs a work on all blocks of the launch. Each thread of a block comes to each barrier.
template <class Work>
__attribute__((device)) void Run(const Work& work) {
  static __attribute__((shared)) crossover::shrink::Shared shared;
  const auto thread = static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x());
  const unsigned long long at_once = crossover::shrink::kBucketsAtOnce;
  for (unsigned long long base = __nvvm_read_ptx_sreg_ctaid_x() * at_once; base < work.Buckets();
       base += __nvvm_read_ptx_sreg_nctaid_x() * at_once) {
    work.First(base + thread / crossover::shrink::kLanes, thread, shared);
    __syncthreads();
    work.Second(base + thread / crossover::shrink::kLanes, thread, shared);
    __syncthreads();
  }
}

}  // namespace

extern "C" __attribute__((global)) void crossover_shrink_narrow(const float* values, unsigned short* narrow,
                                                                unsigned long long count) {
  for (unsigned long long i = First(); i < count; i += Threads())
    narrow[i] = crossover::shrink::ToBf16(values[i]);
}

extern "C" __attribute__((global)) void crossover_shrink_widen(const unsigned short* narrow, float* values,
                                                               unsigned long long count) {
  for (unsigned long long i = First(); i < count; i += Threads())
    values[i] = crossover::shrink::FromBf16(narrow[i]);
}

extern "C" __attribute__((global)) void crossover_shrink_encode(
    const float* values, unsigned char* codes, unsigned long long first, unsigned long long count,
    unsigned long long chunk, unsigned long long room, unsigned long long key, unsigned long long own) {
  Run(crossover::shrink::EncodeWork{values, codes, first, count, chunk, room, key, own});
}

extern "C" __attribute__((global)) void crossover_shrink_sum(
    const float* own, float* sum, const unsigned char* codes, unsigned char* code, unsigned long long first,
    unsigned long long count, unsigned long long room, unsigned long long key, unsigned long long nodes,
    unsigned long long node) {
  Run(crossover::shrink::SumWork{own, sum, codes, code, first, count, room, key, nodes, node});
}

extern "C" __attribute__((global)) void crossover_shrink_decode(const unsigned char* codes, float* values,
                                                                unsigned long long count,
                                                                unsigned long long chunk,
                                                                unsigned long long room,
                                                                unsigned long long divisor) {
  Run(crossover::shrink::DecodeWork{codes, values, count, chunk, room, divisor});
}
