// Reads the handwritten digits of examples/data.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "examples/trainer/model.h"

namespace crossover::trainer {

// A Dataset holds all images with their digits.
struct Dataset {
  std::vector<std::uint8_t> images;  // kPixels each, 0 (white) to 16 (black)
  std::vector<std::uint8_t> labels;
  std::uint32_t size() const { return static_cast<std::uint32_t>(labels.size()); }
};

// ImageOrder says in which order images are used: the training images in a random order, then the held-out
// ones (every fifth image).
struct ImageOrder {
  std::vector<std::uint32_t> order;
  std::uint32_t train = 0;
  std::uint32_t held_out = 0;
};

// A DatasetError is one line: "file:line: what is wrong".
struct DatasetError {
  std::string text;
};

std::variant<Dataset, DatasetError> LoadDataset(const std::string& path);
// Returns the order that `seed` gives for `images` images.
ImageOrder OrderImages(std::uint32_t images, std::uint64_t seed);

}  // namespace crossover::trainer
