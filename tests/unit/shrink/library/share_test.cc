// Tests which part of a call a rank has, and how many bytes of the buffer the call takes.
#include "shrink/library/share.h"

#include <gtest/gtest.h>

#include "shrink/codec/exchange.h"
#include "shrink/kernels/q8_threads.h"

namespace crossover::shrink::library {
namespace {

TEST(ShareTest, ItIsThatOfTheOracle) {
  for (const std::uint32_t nodes : {2u, 3u, 7u}) {
    for (const std::uint32_t per_node : {1u, 2u, 8u}) {
      for (const std::uint64_t count : {65'536u, 65'537u, 100'003u, 1'000'000u}) {
        const auto shards = Borders(count, per_node, kQ8.bucket);
        std::uint64_t room = 0;
        for (std::uint32_t place = 0; place < per_node; ++place) {
          const Share share = ShareOf(count, {nodes, per_node, 0, place});
          const auto chunks = Borders(shards[place + 1] - shards[place], nodes, kQ8.bucket);
          EXPECT_EQ(share.begin, shards[place]);
          for (std::uint32_t node = 0; node <= nodes; ++node)
            EXPECT_EQ(share.chunks.Begin(node), chunks[node]);
          for (std::uint32_t node = 0; node < nodes; ++node)
            EXPECT_LE(EncodedBytes(chunks[node + 1] - chunks[node], 8, kQ8.bucket), share.room);
          if (place == 0) room = share.room;
          EXPECT_EQ(share.room, room);  // all ranks have to count alike
        }
      }
    }
  }
}

TEST(ShareTest, TwoBytesOfTheBufferForEachElementOfAShard) {
  constexpr double kScales = 520.0 / 512;
  const auto bytes = [](std::uint32_t nodes, std::uint32_t per_node) {
    return static_cast<double>(ExchangeBytes(1u << 24, {nodes, per_node, 0, 0}));
  };
  EXPECT_NEAR(bytes(2, 1) / (1u << 24), 2 * kScales, 0.001);
  EXPECT_NEAR(bytes(16, 8) / (1u << 24), 2 * kScales / 8, 0.001);
}

}  // namespace
}  // namespace crossover::shrink::library
