// Reads the Huffman codes of the literals of Zstandard (RFC 8878, section 4.2).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "simgpu/image/zstd/bits.h"

namespace simgpu::image::zstd {

// A HuffmanTable says for each value of `most_bits` bits which symbol begins there, and how long its code is.
struct HuffmanTable {
  struct Code {
    std::uint8_t symbol = 0;
    std::uint8_t bits = 0;
  };
  int most_bits = 0;
  std::vector<Code> codes;
};

// Reads a description of a table at the beginning of *bytes, and goes on behind it. Returns no value if it is
// malformed.
std::optional<HuffmanTable> ReadHuffman(View* bytes);

// Appends the `count` symbols of one stream. Returns false if it holds another number of them.
bool AppendSymbols(const HuffmanTable& table, View stream, std::size_t count, std::vector<std::uint8_t>* out);

}  // namespace simgpu::image::zstd
