// Peers are the ranks of a group, as one of them reaches the others. The reductions of this folder are
// written against it, so that tests run them with threads of one process, and the trainer runs them over
// NCCL.
//
// All ranks of a group make the same calls in the same order. Buffers are in host memory and belong to the
// caller. A call returns when what it says has happened; it throws what the implementation throws if a peer
// is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace crossover::reductions {

using Bytes = std::vector<std::uint8_t>;

class Peers {
 public:
  virtual ~Peers() = default;

  // Returns the place of this rank in the group, from 0 to size() - 1.
  virtual std::size_t place() const = 0;
  virtual std::size_t size() const = 0;

  // Sends sent[p] to each place p, and returns what each place has sent to this one. `expected` says how many
  // bytes that is. REQUIRES: both have size() elements; those of the own place are empty and 0; what two
  // ranks send and expect is the same.
  virtual std::vector<Bytes> Exchange(const std::vector<Bytes>& sent,
                                      const std::vector<std::size_t>& expected) = 0;

  // Adds the `all` of all ranks, and gives each its part of the sum: place p gets the p-th part. REQUIRES:
  // all.size() is size() * mine.size(), on all ranks the same.
  virtual void ReduceScatterSum(std::span<const float> all, std::span<float> mine) = 0;

  // Gives all ranks the `mine` of all ranks, in the order of places. REQUIRES: as above.
  virtual void AllGather(std::span<const float> mine, std::span<float> all) = 0;

  // Adds numbers of bf16 (shrink/codec/bf16.h) in place. Each addition is rounded to bf16; the order is that
  // of the implementation. All ranks get the same bits.
  virtual void AllReduceBf16(std::span<std::uint16_t> values) = 0;
};

}  // namespace crossover::reductions
