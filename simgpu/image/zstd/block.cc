#include "simgpu/image/zstd/block.h"

namespace simgpu::image::zstd {
namespace {

// A Code stands for a number: its least value, and how many bits of the stream are added to that.
struct Code {
  std::uint32_t base;
  std::uint8_t bits;
};

constexpr Code kLiteralCodes[] = {{0, 0},     {1, 0},     {2, 0},     {3, 0},      {4, 0},      {5, 0},
                                  {6, 0},     {7, 0},     {8, 0},     {9, 0},      {10, 0},     {11, 0},
                                  {12, 0},    {13, 0},    {14, 0},    {15, 0},     {16, 1},     {18, 1},
                                  {20, 1},    {22, 1},    {24, 2},    {28, 2},     {32, 3},     {40, 3},
                                  {48, 4},    {64, 6},    {128, 7},   {256, 8},    {512, 9},    {1024, 10},
                                  {2048, 11}, {4096, 12}, {8192, 13}, {16384, 14}, {32768, 15}, {65536, 16}};

constexpr Code kMatchCodes[] = {
    {3, 0},   {4, 0},     {5, 0},     {6, 0},     {7, 0},     {8, 0},      {9, 0},      {10, 0},    {11, 0},
    {12, 0},  {13, 0},    {14, 0},    {15, 0},    {16, 0},    {17, 0},     {18, 0},     {19, 0},    {20, 0},
    {21, 0},  {22, 0},    {23, 0},    {24, 0},    {25, 0},    {26, 0},     {27, 0},     {28, 0},    {29, 0},
    {30, 0},  {31, 0},    {32, 0},    {33, 0},    {34, 0},    {35, 1},     {37, 1},     {39, 1},    {41, 1},
    {43, 2},  {47, 2},    {51, 3},    {59, 3},    {67, 4},    {83, 4},     {99, 5},     {131, 7},   {259, 8},
    {515, 9}, {1027, 10}, {2051, 11}, {4099, 12}, {8195, 13}, {16387, 14}, {32771, 15}, {65539, 16}};

// These are how often symbols come in the tables that a block need not describe.
constexpr std::int16_t kLiteralCounts[] = {4, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 1, 1,  1,  2,  2,
                                           2, 2, 2, 2, 2, 2, 2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
constexpr std::int16_t kOffsetCounts[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                          1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};
constexpr std::int16_t kMatchCounts[] = {1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
                                         1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};

// A Coding says what is fixed about one kind of codes.
struct Coding {
  int most_accuracy;
  std::uint8_t most_symbol;
  int accuracy;  // of the table that need not be described
  std::span<const std::int16_t> counts;
};
constexpr Coding kCodings[] = {
    {9, 35, 6, kLiteralCounts}, {8, 31, 5, kOffsetCounts}, {9, 52, 6, kMatchCounts}};

// Takes `count` bytes from the beginning of *bytes as a number, the lowest byte first. REQUIRES: they are
// there.
std::uint64_t TakeNumber(View* bytes, std::size_t count) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes->data(), count);
  *bytes = bytes->subspan(count);
  return value;
}

// Takes the number of sequences from the beginning of *bytes.
std::optional<std::size_t> TakeCount(View* bytes) {
  const std::size_t first = bytes->empty() ? 0 : (*bytes)[0];
  const std::size_t length = first < 128 ? 1 : first < 255 ? 2 : 3;
  if (bytes->size() < length) return std::nullopt;
  TakeNumber(bytes, 1);
  if (length == 1) return first;
  const auto more = static_cast<std::size_t>(TakeNumber(bytes, length - 1));
  return length == 2 ? (first - 128) * 256 + more : more + 0x7f00;
}

}  // namespace

const char* BlockReader::ReadLiterals(View* block) {
  if (block->empty()) return "a block without literals";
  const int type = (*block)[0] & 3, form = (*block)[0] >> 2 & 3;
  const bool packed = type >= 2;
  // The header has a size, or two of them where the literals are packed.
  const std::size_t plain_bytes = form == 1 ? 2 : form == 3 ? 3 : 1;
  const std::size_t header = packed ? (form < 2 ? 3 : form == 2 ? 4 : 5) : plain_bytes;
  if (block->size() < header) return "a header of literals that is cut off";
  const std::uint64_t word = TakeNumber(block, header);
  if (!packed) {
    const auto size = static_cast<std::size_t>(word >> (header == 1 ? 3 : 4));
    if (size > kMostOfABlock || block->size() < (type == 0 ? size : 1)) return "literals that are cut off";
    const auto end = block->begin() + static_cast<std::ptrdiff_t>(size);
    if (type == 0) literals_.assign(block->begin(), end);
    if (type == 1) literals_.assign(size, block->front());
    *block = block->subspan(type == 0 ? size : 1);
    return nullptr;
  }
  const int width = form < 2 ? 10 : form == 2 ? 14 : 18;
  const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
  return ReadPackedLiterals(block, type, word >> 4 & mask, word >> (4 + width) & mask, form != 0);
}

const char* BlockReader::ReadPackedLiterals(View* block, int type, std::size_t size, std::size_t packed,
                                            bool four_streams) {
  if (size > kMostOfABlock || packed > block->size()) return "literals that are cut off";
  View streams = block->first(packed);
  *block = block->subspan(packed);
  if (type == 2) huffman_ = ReadHuffman(&streams);
  if (!huffman_) return "a Huffman table that is malformed or missing";
  literals_.clear();
  literals_.reserve(size);
  std::size_t sizes[4] = {0, 0, 0, 0};
  const std::size_t count = four_streams ? 4 : 1;
  if (four_streams) {
    if (streams.size() < 6) return "streams of literals that are cut off";
    for (int i = 0; i < 3; ++i) sizes[i] = static_cast<std::size_t>(TakeNumber(&streams, 2));
  }
  const std::size_t share = (size + 3) / 4;
  if (four_streams && share * 3 > size) return "four streams for very few literals";
  for (std::size_t i = 0; i < count; ++i) {
    const bool last = i + 1 == count;
    const std::size_t bytes = last ? streams.size() : sizes[i];
    if (bytes > streams.size()) return "streams of literals that are cut off";
    const std::size_t symbols = last ? size - literals_.size() : share;
    if (!AppendSymbols(*huffman_, streams.first(bytes), symbols, &literals_))
      return "a malformed stream of literals";
    streams = streams.subspan(bytes);
  }
  return nullptr;
}

const char* BlockReader::ReadCodeTable(Kind kind, int mode, View* block) {
  const Coding& coding = kCodings[kind];
  std::optional<FseTable>& table = codes_[kind];
  if (mode == 0) table = MakeTable(coding.counts, coding.accuracy);
  if (mode == 1) {
    if (block->empty() || block->front() > coding.most_symbol) return "an unknown code in a sequence";
    table = MakeSingle(static_cast<std::uint8_t>(TakeNumber(block, 1)));
  }
  if (mode == 2) table = ReadTable(block, coding.most_accuracy, coding.most_symbol);
  return table ? nullptr : "a table of sequences that is malformed or missing";
}

std::uint64_t BlockReader::OffsetOf(std::uint64_t value, bool no_literals) {
  if (value > 3) {
    recent_ = {value - 3, recent_[0], recent_[1]};
    return recent_[0];
  }
  const std::uint64_t index = value - 1 + (no_literals ? 1 : 0);
  if (index == 0) return recent_[0];
  const std::uint64_t offset = index == 3 ? recent_[0] - 1 : recent_[index];
  if (index > 1) recent_[2] = recent_[1];
  recent_[1] = recent_[0];
  recent_[0] = offset;
  return offset;
}

const char* BlockReader::RunOne(std::size_t literals, std::size_t match, std::uint64_t offset_value) {
  const std::uint64_t offset = OffsetOf(offset_value, literals == 0);
  if (literals > literals_.size() - literals_used_) return "a sequence of more literals than there are";
  if (literals + match > kMostOfABlock - (out_->size() - block_begin_)) return "a block of more than 128 KiB";
  const auto from = literals_.begin() + static_cast<std::ptrdiff_t>(literals_used_);
  out_->insert(out_->end(), from, from + static_cast<std::ptrdiff_t>(literals));
  literals_used_ += literals;
  if (offset == 0 || offset > out_->size() - begin_) return "a match before the first byte";
  const std::size_t begin = out_->size();
  out_->resize(begin + match);
  std::uint8_t* to = out_->data() + begin;
  if (offset >= match) {
    std::memcpy(to, to - offset, match);
  } else {
    for (std::size_t i = 0; i < match; ++i) to[i] = *(to + i - offset);
  }
  return nullptr;
}

const char* BlockReader::RunSequences(View stream, std::size_t count) {
  BackwardBits bits(stream);
  const FseTable &literal = *codes_[kLiterals], &offset = *codes_[kOffset], &match = *codes_[kMatch];
  std::uint32_t literal_state = literal.First(&bits);
  std::uint32_t offset_state = offset.First(&bits);
  std::uint32_t match_state = match.First(&bits);
  for (std::size_t left = count; left > 0; --left) {
    const int offset_bits = offset.Symbol(offset_state);
    const Code match_code = kMatchCodes[match.Symbol(match_state)];
    const Code literal_code = kLiteralCodes[literal.Symbol(literal_state)];
    const std::uint64_t offset_value = (std::uint64_t{1} << offset_bits) + bits.Read(offset_bits);
    const std::size_t match_length = match_code.base + bits.Read(match_code.bits);
    const std::size_t literal_length = literal_code.base + bits.Read(literal_code.bits);
    if (left > 1) {
      literal_state = literal.Next(literal_state, &bits);
      match_state = match.Next(match_state, &bits);
      offset_state = offset.Next(offset_state, &bits);
    }
    if (bits.Overrun()) return "sequences that are cut off";
    if (const char* problem = RunOne(literal_length, match_length, offset_value)) return problem;
  }
  return bits.AtEnd() ? nullptr : "more bits than the sequences need";
}

const char* BlockReader::Append(View block) {
  block_begin_ = out_->size();
  literals_used_ = 0;
  if (const char* problem = ReadLiterals(&block)) return problem;
  const auto count = TakeCount(&block);
  if (!count) return "a number of sequences that is cut off";
  if (*count > 0) {
    if (block.empty()) return "sequences without their tables";
    const auto modes = static_cast<int>(TakeNumber(&block, 1));
    if ((modes & 3) != 0) return "reserved bits in the tables of sequences";
    const char* problem = ReadCodeTable(kLiterals, modes >> 6 & 3, &block);
    if (problem == nullptr) problem = ReadCodeTable(kOffset, modes >> 4 & 3, &block);
    if (problem == nullptr) problem = ReadCodeTable(kMatch, modes >> 2 & 3, &block);
    if (problem == nullptr) problem = RunSequences(block, *count);
    if (problem != nullptr) return problem;
  } else if (!block.empty()) {
    return "bytes behind a block without sequences";
  }
  if (literals_.size() - literals_used_ > kMostOfABlock - (out_->size() - block_begin_)) {
    return "a block of more than 128 KiB";
  }
  out_->insert(out_->end(), literals_.begin() + static_cast<std::ptrdiff_t>(literals_used_), literals_.end());
  return nullptr;
}

}  // namespace simgpu::image::zstd
