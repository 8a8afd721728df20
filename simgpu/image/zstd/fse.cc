#include "simgpu/image/zstd/fse.h"

#include <cstdlib>

namespace simgpu::image::zstd {

FseTable MakeTable(std::span<const std::int16_t> counts, int accuracy) {
  FseTable table;
  table.accuracy = accuracy;
  const std::uint32_t size = 1u << accuracy;
  table.states.resize(size);
  std::vector<std::uint32_t> next(counts.size());
  std::uint32_t high = size;  // rare symbols stand from here on
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] != -1) continue;
    table.states[--high].symbol = static_cast<std::uint8_t>(symbol);
    next[symbol] = 1;
  }
  const std::uint32_t step = (size >> 1) + (size >> 3) + 3;
  std::uint32_t at = 0;
  for (std::size_t symbol = 0; symbol < counts.size(); ++symbol) {
    if (counts[symbol] <= 0) continue;
    next[symbol] = static_cast<std::uint32_t>(counts[symbol]);
    for (int i = 0; i < counts[symbol]; ++i) {
      table.states[at].symbol = static_cast<std::uint8_t>(symbol);
      do at = (at + step) & (size - 1);
      while (at >= high);
    }
  }
  for (FseTable::State& state : table.states) {
    const std::uint32_t number = next[state.symbol]++;
    state.bits = static_cast<std::uint8_t>(accuracy + 1 - static_cast<int>(std::bit_width(number)));
    state.base = static_cast<std::uint16_t>((number << state.bits) - size);
  }
  return table;
}

FseTable MakeSingle(std::uint8_t symbol) {
  FseTable table;
  table.states = {{.base = 0, .symbol = symbol, .bits = 0}};
  return table;
}

std::optional<FseTable> ReadTable(View* bytes, int most_accuracy, std::uint8_t most_symbol) {
  ForwardBits bits(*bytes);
  const int accuracy = static_cast<int>(bits.Read(4)) + 5;
  if (accuracy > most_accuracy) return std::nullopt;
  std::vector<std::int16_t> counts;
  int left = 1 << accuracy;
  while (left > 0) {
    if (counts.size() > most_symbol || bits.Overrun()) return std::nullopt;
    // The value is from 0 to left + 1. The low ones of them need one bit less.
    const int width = static_cast<int>(std::bit_width(static_cast<unsigned>(left + 1)));
    const int low_mask = (1 << (width - 1)) - 1;
    const int short_values = (1 << width) - 1 - (left + 1);
    int value = static_cast<int>(bits.Read(width));
    if ((value & low_mask) < short_values) {
      bits.Back(1);
      value &= low_mask;
    } else if (value > low_mask) {
      value -= short_values;
    }
    const int count = value - 1;
    left -= std::abs(count);
    counts.push_back(static_cast<std::int16_t>(count));
    for (std::uint32_t zeros = count == 0 ? 3 : 0; zeros == 3;) {
      zeros = bits.Read(2);
      counts.insert(counts.end(), zeros, 0);
      if (counts.size() > std::size_t{most_symbol} + 1) return std::nullopt;
    }
  }
  if (left < 0 || bits.Overrun()) return std::nullopt;
  *bytes = bytes->subspan(static_cast<std::size_t>(bits.BytesUsed()));
  return MakeTable(counts, accuracy);
}

}  // namespace simgpu::image::zstd
