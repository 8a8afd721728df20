// Tables of finite state entropy, by which Zstandard codes symbols (RFC 8878, section 4.1).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "simgpu/image/zstd/bits.h"

namespace simgpu::image::zstd {

// A FseTable says for each state its symbol, and how the next state is found.
struct FseTable {
  struct State {
    std::uint16_t base = 0;
    std::uint8_t symbol = 0;
    std::uint8_t bits = 0;
  };
  int accuracy = 0;  // the number of states is 2 to this power
  std::vector<State> states;

  std::uint32_t First(BackwardBits* bits) const { return static_cast<std::uint32_t>(bits->Read(accuracy)); }
  std::uint8_t Symbol(std::uint32_t state) const { return states[state].symbol; }
  std::uint32_t Next(std::uint32_t state, BackwardBits* bits) const {
    return states[state].base + static_cast<std::uint32_t>(bits->Read(states[state].bits));
  }
};

// Makes a table from how often each symbol comes; -1 stands for less than once. REQUIRES: the numbers, -1
// taken as 1, add up to 2 to the power of `accuracy`.
FseTable MakeTable(std::span<const std::int16_t> counts, int accuracy);

// Makes a table of one state.
FseTable MakeSingle(std::uint8_t symbol);

// Reads a description of a table at the beginning of *bytes, and goes on behind it. Returns no value if it is
// malformed, needs an accuracy above `most_accuracy`, or has a symbol above `most_symbol`.
std::optional<FseTable> ReadTable(View* bytes, int most_accuracy, std::uint8_t most_symbol);

}  // namespace simgpu::image::zstd
