// Defines the kernels that narrow floats to bf16 and widen them. kernels.ptx is what clang makes of this
// file, without a CUDA toolkit; tests/unit/shrink/kernels/test_image.py has the command, and compares the
// two.
//
// Each thread takes every n-th element, where n is the number of threads of the launch. So any grid serves.
#include "shrink/codec/bf16.h"

namespace {

__attribute__((device)) unsigned long long First() {
  return static_cast<unsigned long long>(__nvvm_read_ptx_sreg_ctaid_x()) * __nvvm_read_ptx_sreg_ntid_x() +
         __nvvm_read_ptx_sreg_tid_x();
}

__attribute__((device)) unsigned long long Threads() {
  return static_cast<unsigned long long>(__nvvm_read_ptx_sreg_nctaid_x()) * __nvvm_read_ptx_sreg_ntid_x();
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
