// Implements the arithmetic of a job with experts, as ops.h does for the other variants: see experts.h.
#pragma once

#include "examples/trainer/experts.h"
#include "examples/trainer/ops.h"

namespace crossover::trainer::ops {

// Returns how many images the ranks before `rank` send to this rank's expert.
TRAINER_HD inline std::uint32_t ReceivedBefore(const State& s, std::uint32_t rank) {
  float count = 0;
  for (std::uint32_t from = 0; from < rank; ++from) count += s.experts.all_counts[from * s.world + s.rank];
  return static_cast<std::uint32_t>(count);
}

// Chooses the expert of each image, and the image's place among those that this rank sends.
struct Route {
  TRAINER_HD static std::uint32_t Count(const Call&) { return 1; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t) {
    const State& s = c.s;
    for (std::uint32_t expert = 0; expert < s.world; ++expert) s.experts.counts[expert] = 0;
    for (std::uint32_t row = 0; row < s.rows; ++row) s.experts.counts[ExpertOf(s, row)] += 1;
    std::uint32_t next = 0;
    for (std::uint32_t expert = 0; expert < s.world; ++expert) {
      for (std::uint32_t row = 0; row < s.rows; ++row) {
        if (ExpertOf(s, row) == expert) s.experts.slot[row] = next++;
      }
    }
  }
  // With varying routing, an image goes to the expert whose input is the largest of the first ones.
  TRAINER_HD static std::uint32_t ExpertOf(const State& s, std::uint32_t row) {
    if (s.experts.varying == 0) return row % s.world;
    const float* input = s.activation[kExpertLayer] + row * Width(kExpertLayer);
    const std::uint32_t choices = s.world < Width(kExpertLayer) ? s.world : Width(kExpertLayer);
    std::uint32_t best = 0;
    for (std::uint32_t i = 1; i < choices; ++i) best = input[i] > input[best] ? i : best;
    return best;
  }
};

// Collects what this rank sends; a: 0 for activations, 1 for deltas.
struct Dispatch {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t row) {
    const State& s = c.s;
    const std::uint32_t width = Width(kExpertLayer + c.a);
    const float* from = (c.a == 0 ? s.activation[kExpertLayer] : s.delta[kExpertLayer + 1]) + row * width;
    float* to = s.experts.sent + std::uint64_t{s.experts.slot[row]} * s.experts.floats;
    for (std::uint32_t i = 0; i < width; ++i) to[i] = from[i];
  }
};

// Puts the answers where the layer's own kernels would; a: 0 for activations, 1 for deltas.
struct Collect {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return c.s.rows; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t row) {
    const State& s = c.s;
    const std::uint32_t width = Width(kExpertLayer + 1 - c.a);
    const float* from = s.experts.answers + std::uint64_t{s.experts.slot[row]} * s.experts.floats;
    float* to = (c.a == 0 ? s.activation[kExpertLayer + 1] : s.delta[kExpertLayer]) + row * width;
    for (std::uint32_t i = 0; i < width; ++i) to[i] = from[i];
  }
};

// Computes the layer by this rank's expert. One element is one image that was received.
struct ExpertForward {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return ReceivedBefore(c.s, c.s.world); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t row) {
    const State& s = c.s;
    constexpr std::uint32_t kInputs = Width(kExpertLayer), kOutputs = Width(kExpertLayer + 1);
    const float* input = s.experts.received + std::uint64_t{row} * s.experts.floats;
    Outputs(input, 0, kInputs, s.experts.parameters, kOutputs,
            s.experts.parameters + WeightCount(kExpertLayer),
            s.experts.outgoing + std::uint64_t{row} * s.experts.floats, kOutputs);
  }
};

// Computes the gradients of this rank's expert; b: 2 to add to those of the earlier micro-batches. One
// element is the weights of one input; the last one is the biases.
struct ExpertGradient {
  TRAINER_HD static std::uint32_t Count(const Call&) { return Width(kExpertLayer) + 1; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t input) {
    const State& s = c.s;
    constexpr std::uint32_t kInputs = Width(kExpertLayer), kOutputs = Width(kExpertLayer + 1);
    const std::uint32_t rows = ReceivedBefore(s, s.world);
    float* gradient = s.experts.gradients + input * kOutputs;
    for (std::uint32_t j = 0; j < kOutputs && (c.b & 2) == 0; ++j) gradient[j] = 0;
    for (std::uint32_t row = 0; row < rows; ++row) {
      const std::uint64_t place = std::uint64_t{row} * s.experts.floats;
      const float value = input == kInputs ? 1 : s.experts.received[place + input];
      for (std::uint32_t j = 0; j < kOutputs; ++j) gradient[j] += value * s.experts.deltas[place + j];
    }
  }
};

// Computes the gradients by the images that were received. One element is one of them.
struct ExpertInputGradient {
  TRAINER_HD static std::uint32_t Count(const Call& c) { return ReceivedBefore(c.s, c.s.world); }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t row) {
    const State& s = c.s;
    constexpr std::uint32_t kInputs = Width(kExpertLayer), kOutputs = Width(kExpertLayer + 1);
    const float* delta = s.experts.deltas + std::uint64_t{row} * s.experts.floats;
    float* output = s.experts.outgoing + std::uint64_t{row} * s.experts.floats;
    for (std::uint32_t i = 0; i < kInputs; ++i) {
      float sum = 0;
      for (std::uint32_t j = 0; j < kOutputs; ++j) sum += s.experts.parameters[i * kOutputs + j] * delta[j];
      output[i] = sum;
    }
  }
};

// Makes the step of this rank's expert. The deltas are means over the images of a rank, as gradients are
// before they are averaged over the ranks.
struct UpdateExpert {
  TRAINER_HD static std::uint32_t Count(const Call&) { return kExpertParameters; }
  TRAINER_HD static void Apply(const Call& c, std::uint32_t e) {
    const Experts& experts = c.s.experts;
    Descend(c.s, &experts.parameters[e], &experts.velocity[e],
            experts.gradients[e] / static_cast<float>(c.s.world));
  }
};

}  // namespace crossover::trainer::ops
