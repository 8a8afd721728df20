#include "examples/trainer/nccl_peers.h"

#include <algorithm>
#include <numeric>

namespace crossover::trainer {

using reductions::Bytes;

NcclPeers::NcclPeers(Gpu& gpu, Communicator& communicator, std::size_t split, std::size_t place,
                     std::size_t size)
    : gpu_(gpu), communicator_(communicator), split_(split), place_(place), size_(size) {}

// Memory that was too small stays allocated until the GPU is closed. As sizes double, it is no more than what
// is in use.
void* NcclPeers::Room(Staging& staging, std::size_t bytes) {
  if (bytes > staging.bytes) {
    staging.bytes = std::max(bytes, 2 * staging.bytes);
    staging.memory = gpu_.Allocate(staging.bytes);
  }
  return staging.memory;
}

void* NcclPeers::Uploaded(const void* host, std::size_t bytes) {
  void* const device = Room(out_, std::max<std::size_t>(bytes, 1));
  if (bytes > 0) gpu_.Upload(device, host, bytes);
  return device;
}

void NcclPeers::Collect(void* host, const void* device, std::size_t bytes) {
  gpu_.Synchronize(gpu_.communication());
  if (bytes > 0) gpu_.Download(host, device, bytes);
}

std::vector<Bytes> NcclPeers::Exchange(const std::vector<Bytes>& sent,
                                       const std::vector<std::size_t>& expected) {
  Bytes all;
  std::vector<std::size_t> sizes;
  for (const Bytes& bytes : sent) {
    all.insert(all.end(), bytes.begin(), bytes.end());
    sizes.push_back(bytes.size());
  }
  Bytes received(std::accumulate(expected.begin(), expected.end(), std::size_t{0}));
  auto* const out = static_cast<std::uint8_t*>(Uploaded(all.data(), all.size()));
  auto* const in = static_cast<std::uint8_t*>(Room(in_, std::max<std::size_t>(received.size(), 1)));
  communicator_.Exchange(split_, out, sizes, in, expected, gpu_.communication());
  Collect(received.data(), in, received.size());
  std::vector<Bytes> result;
  auto at = received.begin();
  for (const std::size_t size : expected) {
    const auto end = at + static_cast<std::ptrdiff_t>(size);
    result.emplace_back(at, end);
    at = end;
  }
  return result;
}

void NcclPeers::ReduceScatterSum(std::span<const float> all, std::span<float> mine) {
  auto* const out = static_cast<float*>(Uploaded(all.data(), all.size_bytes()));
  auto* const in = static_cast<float*>(Room(in_, mine.size_bytes()));
  communicator_.ReduceScatterSum(split_, out, in, mine.size(), gpu_.communication());
  Collect(mine.data(), in, mine.size_bytes());
}

void NcclPeers::AllGather(std::span<const float> mine, std::span<float> all) {
  auto* const out = static_cast<float*>(Uploaded(mine.data(), mine.size_bytes()));
  auto* const in = static_cast<float*>(Room(in_, all.size_bytes()));
  communicator_.AllGather(split_, out, in, mine.size(), gpu_.communication());
  Collect(all.data(), in, all.size_bytes());
}

void NcclPeers::AllReduceBf16(std::span<std::uint16_t> values) {
  auto* const device = static_cast<std::uint16_t*>(Uploaded(values.data(), values.size_bytes()));
  communicator_.AllReduceSumBf16(split_, device, values.size(), gpu_.communication());
  Collect(values.data(), device, values.size_bytes());
}

}  // namespace crossover::trainer
