#include "simgpu/image/lz4.h"

#include "common/base/refusal.h"

namespace simgpu::image {
namespace {

// A Block is one block while it is read.
struct Block {
  View left;
  bool whole = true;  // false once something was cut off

  std::uint8_t Byte() {
    if (left.empty()) {
      whole = false;
      return 0;
    }
    const std::uint8_t byte = left.front();
    left = left.subspan(1);
    return byte;
  }
  // Returns a length of which `first` are the four bits in the token: 15 goes on in further bytes.
  std::size_t Length(std::size_t first) {
    std::size_t length = first;
    if (first != 15) return length;
    for (std::uint8_t more = 255; more == 255 && whole;) {
      more = Byte();
      length += more;
    }
    return length;
  }
};

// Appends the sequence that comes next. Returns what is wrong with it, or null.
const char* AppendSequence(Block* block, std::size_t most, std::vector<std::uint8_t>* out) {
  constexpr std::size_t kShortestMatch = 4;
  const std::uint8_t token = block->Byte();
  const std::size_t literals = block->Length(token >> 4);
  if (literals > block->left.size()) return "a run of bytes that is cut off";
  if (literals > most - out->size()) return "more bytes";
  out->insert(out->end(), block->left.begin(), block->left.begin() + static_cast<std::ptrdiff_t>(literals));
  block->left = block->left.subspan(literals);
  if (block->left.empty()) return nullptr;  // the last sequence has no match
  const std::size_t low = block->Byte();
  const std::size_t distance = low + (std::size_t{block->Byte()} << 8);
  const std::size_t length = block->Length(token & 15) + kShortestMatch;
  if (!block->whole) return "a sequence that is cut off";
  if (distance == 0 || distance > out->size()) return "a match before the first byte";
  if (length > most - out->size()) return "more bytes";
  for (std::size_t i = 0; i < length; ++i) out->push_back((*out)[out->size() - distance]);
  return nullptr;
}

}  // namespace

std::optional<std::vector<std::uint8_t>> UnpackLz4(View packed, std::size_t bytes, std::string* error) {
  std::vector<std::uint8_t> out;
  // A byte of a block stands for 255 bytes at most, so a false size cannot ask for much memory.
  out.reserve(std::min(bytes, packed.size() * 255));
  Block block{packed};
  const char* problem = nullptr;
  while (problem == nullptr && !block.left.empty()) problem = AppendSequence(&block, bytes, &out);
  const std::string size = std::to_string(bytes) + " bytes";
  if (problem == nullptr && out.size() == bytes) return out;
  *error =
      crossover::base::Refusal("LZ4 block", size, problem != nullptr ? problem : std::to_string(out.size()));
  return std::nullopt;
}

}  // namespace simgpu::image
