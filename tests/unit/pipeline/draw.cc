#include "tests/unit/pipeline/draw.h"

#include <string>

namespace crossover::pipeline {
namespace {

void Extend(std::size_t blocks, std::size_t chunks, std::vector<std::size_t>* borders,
            const std::function<void(const std::vector<std::size_t>&)>& see) {
  if (borders->size() == chunks) {
    borders->push_back(blocks);
    see(*borders);
    borders->pop_back();
    return;
  }
  for (std::size_t next = borders->back() + 1; next <= blocks - (chunks - borders->size()); ++next) {
    borders->push_back(next);
    Extend(blocks, chunks, borders, see);
    borders->pop_back();
  }
}

}  // namespace

Problem Draw::AProblem(int blocks, int devices) {
  Problem problem;
  const int stages = From(1, devices);
  const int count = From(stages, blocks);
  for (int i = 0; i < count; ++i) {
    Block block;
    block.name = "b" + std::to_string(i);
    block.forward = From(1, 100);
    block.backward = From(1, 200);
    block.output_bytes = static_cast<std::uint64_t>(From(0, 50));
    block.stored_bytes = static_cast<std::uint64_t>(From(0, 50));
    block.parameter_bytes = static_cast<std::uint64_t>(From(0, 50));
    problem.blocks.push_back(block);
  }
  for (int d = 0; d < stages; ++d) {
    Device device;
    device.latency = From(0, 20);
    device.bytes_per_second = From(0, 1) == 0 ? 0 : 1e9;  // a byte takes a nanosecond
    device.speed = From(0, 3) == 0 ? 0.5 : 1;
    problem.devices.push_back(device);
  }
  problem.microbatches = From(1, 8);
  return problem;
}

void EachDivision(std::size_t blocks, std::size_t chunks,
                  const std::function<void(const std::vector<std::size_t>&)>& see) {
  std::vector<std::size_t> borders{0};
  Extend(blocks, chunks, &borders, see);
}

}  // namespace crossover::pipeline
