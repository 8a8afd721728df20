// Lists the operations of each device of a pipeline, in the order in which the device runs them. Pure.
//
// A model is cut into chunks, which follow each other. Device d of P devices has chunk d, or several: d,
// d + P, ..
// Each micro-batch passes all chunks forward, and then all of them backward.
//
//   1F1B, P = 3, M = 4                     F0 .. F3 forward, B0 .. B3 backward
//     device 0   F0 F1 F2 B0 F3 B1 B2 B3
//     device 1   F0 F1 B0 F2 B1 F3 B2 B3
//     device 2   F0 B0 F1 B1 F2 B2 F3 B3
//
// Sources: 1F1B is that of PipeDream-Flush (arXiv 2006.09503), the interleaved order that of Megatron-LM
// (arXiv 2104.04473). GPipe is in arXiv 1811.06965, and slices are in AutoPipe (CLUSTER 2022).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace crossover::pipeline {

enum class Kind : std::uint8_t {
  kOneForwardOneBackward,
  kInterleaved,  // the same with several chunks on each device
  kGPipe         // all forward passes before the first backward pass
};

// A Half says which samples of a micro-batch an operation is for. Forward passes of the first micro-batches
// may be cut into two halves, so that later devices begin sooner.
enum class Half : std::uint8_t { kWhole, kFirst, kSecond };

struct Operation {
  bool forward = true;
  int chunk = 0;
  int microbatch = 0;
  Half half = Half::kWhole;  // kWhole if it is a backward pass

  friend bool operator==(const Operation&, const Operation&) = default;
};

struct Shape {
  Kind kind = Kind::kOneForwardOneBackward;
  int devices = 1;
  int chunks_per_device = 1;
  int microbatches = 1;
  int sliced = 0;  // number of micro-batches, from the first, whose forward passes are halved

  int chunks() const { return devices * chunks_per_device; }
  int device_of(int chunk) const { return chunk % devices; }
};

// Returns "" if the shape is sound, else what is wrong in it, in words.
std::string FaultOf(const Shape& shape);

// Returns the operations of each device. REQUIRES: the shape is sound.
std::vector<std::vector<Operation>> OrdersOf(const Shape& shape);

}  // namespace crossover::pipeline
