// Unpacks the compressed blocks of one frame of Zstandard (RFC 8878, section 3.1.1.3).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "simgpu/image/zstd/fse.h"
#include "simgpu/image/zstd/huffman.h"

namespace simgpu::image::zstd {

constexpr std::size_t kMostOfABlock = 128 << 10;  // bytes that a block holds, unpacked

class BlockReader {
 public:
  // Appends what the frame holds to *out. A match goes back to the present end of *out at most.
  explicit BlockReader(std::vector<std::uint8_t>* out) : out_(out), begin_(out->size()) {}

  // Append() unpacks one block. It returns what is wrong with the block, or null. It never appends more than
  // kMostOfABlock bytes.
  const char* Append(View block);

 private:
  // These are the three kinds of codes of a sequence.
  enum Kind { kLiterals, kOffset, kMatch };

  const char* ReadLiterals(View* block);
  const char* ReadPackedLiterals(View* block, int type, std::size_t size, std::size_t packed,
                                 bool four_streams);
  const char* ReadCodeTable(Kind kind, int mode, View* block);
  const char* RunSequences(View stream, std::size_t count);
  const char* RunOne(std::size_t literals, std::size_t match, std::uint64_t offset_value);
  std::uint64_t OffsetOf(std::uint64_t value, bool no_literals);

  std::vector<std::uint8_t>* const out_;
  const std::size_t begin_;      // of the frame in *out_
  std::size_t block_begin_ = 0;  // of the block in *out_
  std::vector<std::uint8_t> literals_;
  std::size_t literals_used_ = 0;
  // A later block may use the tables and offsets of an earlier one again.
  std::optional<HuffmanTable> huffman_;
  std::array<std::optional<FseTable>, 3> codes_;
  std::array<std::uint64_t, 3> recent_ = {1, 4, 8};
};

}  // namespace simgpu::image::zstd
