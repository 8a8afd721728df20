#include "examples/trainer/dataset.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

#include "common/base/refusal.h"
#include "examples/trainer/random.h"

namespace crossover::trainer {
namespace {

// Reads "v,v,...,v", exactly kPixels + 1 numbers. Returns what is expected instead, or nullptr.
const char* ParseLine(const std::string& line, Dataset& dataset) {
  const char* at = line.data();
  const char* const end = at + line.size();
  for (std::uint32_t column = 0; column <= kPixels; ++column) {
    unsigned value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return "65 whole numbers with commas between";
    at = next;
    const bool last = column == kPixels;
    if (value > (last ? kClasses - 1 : 16)) return "pixels from 0 to 16 and a digit from 0 to 9";
    if (last ? at != end : (at == end || *at++ != ',')) return "65 whole numbers with commas between";
    (last ? dataset.labels : dataset.images).push_back(static_cast<std::uint8_t>(value));
  }
  return nullptr;
}

}  // namespace

std::variant<Dataset, DatasetError> LoadDataset(const std::string& path) {
  std::ifstream file(path);
  if (!file) return DatasetError{path + ": " + std::strerror(errno)};
  Dataset dataset;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    if (const char* expected = ParseLine(line, dataset)) {
      return DatasetError{base::Refusal(path + ":" + std::to_string(number), expected, base::Shown(line))};
    }
  }
  if (dataset.size() < 10)
    return DatasetError{base::Refusal(path, "at least 10 images", std::to_string(dataset.size()))};
  return dataset;
}

ImageOrder OrderImages(std::uint32_t images, std::uint64_t seed) {
  ImageOrder result;
  std::vector<std::uint32_t> held_out;
  for (std::uint32_t i = 0; i < images; ++i) (i % 5 == 4 ? held_out : result.order).push_back(i);
  result.train = static_cast<std::uint32_t>(result.order.size());
  result.held_out = static_cast<std::uint32_t>(held_out.size());
  Random random(seed);
  for (std::uint32_t i = result.train; i > 1; --i) {
    std::swap(result.order[i - 1], result.order[random.Next() % i]);
  }
  result.order.insert(result.order.end(), held_out.begin(), held_out.end());
  return result;
}

}  // namespace crossover::trainer
