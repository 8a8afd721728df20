// Defines the kernels: those that narrow floats to bf16 and widen them, those of the exchange with 8 bits,
// those of the exchange with planned bits, and the one that measures the error of the codecs. kernels.ptx is
// what clang makes of this file, without a CUDA toolkit; tests/unit/shrink/kernels/test_image.py has the
// command, and compares the two.
//
// For bf16 each thread takes every n-th element, where n is the number of threads of the launch. So any grid
// serves. The others need blocks of kThreads threads, in any number.
#include "shrink/codec/bf16.h"
#include "shrink/kernels/adaptive_threads.h"
#include "shrink/kernels/error_threads.h"
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
  static __attribute__((shared)) typename Work::Said shared;
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

// A Measuring is the work of one thread, with what the thread has added up so far.
struct Measuring {
  using Said = crossover::shrink::Shared;
  crossover::shrink::ErrorWork work;
  crossover::shrink::ErrorSums& own;

  __attribute__((device)) unsigned long long Buckets() const { return work.Buckets(); }
  __attribute__((device)) void First(unsigned long long bucket, unsigned thread,
                                     crossover::shrink::Shared& shared) const {
    work.First(bucket, thread, shared);
  }
  __attribute__((device)) void Second(unsigned long long bucket, unsigned thread,
                                      const crossover::shrink::Shared& shared) const {
    work.Second(bucket, thread, shared, own);
  }
};

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

// Needs kErrorBlocks blocks. `parts` may lie in memory of the host.
extern "C" __attribute__((global)) void crossover_shrink_error(const float* values,
                                                               crossover::shrink::ErrorPart* parts,
                                                               unsigned long long count,
                                                               unsigned long long key,
                                                               unsigned long long mark) {
  using crossover::shrink::kBucketsAtOnce;
  using crossover::shrink::kLanes;
  static __attribute__((shared)) crossover::shrink::ErrorSums of_threads[crossover::shrink::kThreads];
  const auto thread = static_cast<unsigned>(__nvvm_read_ptx_sreg_tid_x());
  crossover::shrink::ErrorSums own{};
  Run(Measuring{{values, count, key}, own});
  of_threads[thread] = own;
  __syncthreads();
  if (thread % kLanes == 0) of_threads[thread] = crossover::shrink::SumOf(of_threads + thread, kLanes, 1);
  __syncthreads();
  if (thread != 0) return;
  crossover::shrink::ErrorPart& part = parts[__nvvm_read_ptx_sreg_ctaid_x()];
  part.sums = crossover::shrink::SumOf(of_threads, kBucketsAtOnce, kLanes);
  __nvvm_membar_sys();
  *static_cast<volatile uint64_t*>(&part.mark) = mark;
}

extern "C" __attribute__((global)) void crossover_shrink_encode_planned(
    const float* values, unsigned char* codes, unsigned long long first, unsigned long long count,
    unsigned long long chunk, unsigned long long room, unsigned long long key, unsigned long long own,
    const crossover::shrink::Piece* pieces, unsigned long long per_chunk, unsigned long long length) {
  Run(crossover::shrink::EncodeWorkOf<crossover::shrink::PlannedBits>{
      values, codes, first, count, chunk, room, key, own, {pieces, per_chunk, length}});
}

extern "C" __attribute__((global)) void crossover_shrink_sum_planned(
    const float* own, float* sum, const unsigned char* codes, unsigned char* code, unsigned long long first,
    unsigned long long count, unsigned long long room, unsigned long long key, unsigned long long nodes,
    unsigned long long node, const crossover::shrink::Piece* pieces, unsigned long long per_chunk,
    unsigned long long length) {
  Run(crossover::shrink::SumWorkOf<crossover::shrink::PlannedBits>{
      own, sum, codes, code, first, count, room, key, nodes, node, {pieces, per_chunk, length}});
}

extern "C" __attribute__((global)) void crossover_shrink_decode_planned(
    const unsigned char* codes, float* values, unsigned long long count, unsigned long long chunk,
    unsigned long long room, unsigned long long divisor, const crossover::shrink::Piece* pieces,
    unsigned long long per_chunk, unsigned long long length) {
  Run(crossover::shrink::DecodeWorkOf<crossover::shrink::PlannedBits>{
      codes, values, count, chunk, room, divisor, {pieces, per_chunk, length}});
}

extern "C" __attribute__((global)) void crossover_shrink_statistics(
    const unsigned char* codes, const unsigned char* code, double* errors, double* said,
    unsigned long long count, unsigned long long room, unsigned long long nodes, unsigned long long node,
    const crossover::shrink::Piece* pieces, unsigned long long per_chunk, unsigned long long length) {
  Run(crossover::shrink::StatisticsWork{
      codes, code, errors, said, count, room, nodes, node, {pieces, per_chunk, length}});
}
