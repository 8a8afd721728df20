#include "simgpu/image/zstd/zstd.h"

#include "common/base/refusal.h"
#include "simgpu/image/zstd/block.h"

namespace simgpu::image {
namespace {

constexpr std::uint32_t kMagic = 0xfd2fb528;
constexpr std::uint32_t kSkippedMagic = 0x184d2a50;  // and the 15 numbers behind it

enum class BlockType { kPlain, kRepeated, kCompressed, kReserved };

// Takes `bytes` bytes from the beginning of *view. Returns no value if they are not there.
std::optional<View> Take(View* view, std::uint64_t bytes) {
  const std::optional<View> part = Part(*view, 0, bytes);
  if (part) *view = view->subspan(part->size());
  return part;
}

// A Header is what Append() must know of the header of a frame.
struct Header {
  bool checksum = false;
};

// Takes the header behind the magic number. Returns what is wrong with it, or null.
const char* TakeHeader(View* packed, Header* header) {
  const auto first = Take(packed, 1);
  if (!first) return "a frame header that is cut off";
  const unsigned descriptor = first->front();
  const bool single = (descriptor & 0x20) != 0;
  if ((descriptor & 0x08) != 0) return "a reserved bit in a frame header";
  if ((descriptor & 0x03) != 0) return "a frame that needs a dictionary";
  header->checksum = (descriptor & 0x04) != 0;
  const unsigned size_flag = descriptor >> 6;
  const std::uint64_t window_bytes = single ? 0 : 1;
  const std::uint64_t size_bytes = size_flag == 0 ? (single ? 1 : 0) : std::uint64_t{1} << size_flag;
  return Take(packed, window_bytes + size_bytes) ? nullptr : "a frame header that is cut off";
}

// Takes one block. Returns what is wrong with it, or null.
const char* TakeBlock(View* packed, std::size_t most, zstd::BlockReader* reader,
                      std::vector<std::uint8_t>* out, bool* last) {
  const auto header = Take(packed, 3);
  if (!header) return "a block header that is cut off";
  const unsigned word = (*header)[0] | unsigned{(*header)[1]} << 8 | unsigned{(*header)[2]} << 16;
  *last = (word & 1) != 0;
  const auto type = static_cast<BlockType>(word >> 1 & 3);
  const std::size_t size = word >> 3;
  if (type == BlockType::kReserved) return "a block of a reserved type";
  const auto content = Take(packed, type == BlockType::kRepeated ? 1 : size);
  if (!content) return "a block that is cut off";
  if (type == BlockType::kCompressed) {
    const char* problem = reader->Append(*content);
    return problem == nullptr && out->size() > most ? "more bytes" : problem;
  }
  if (size > zstd::kMostOfABlock) return "a block of more than 128 KiB";
  if (size > most - out->size()) return "more bytes";
  if (type == BlockType::kPlain) out->insert(out->end(), content->begin(), content->end());
  if (type == BlockType::kRepeated) out->insert(out->end(), size, content->front());
  return nullptr;
}

// Takes one frame. Returns what is wrong with it, or null.
const char* TakeFrame(View* packed, std::size_t most, std::vector<std::uint8_t>* out) {
  const auto magic = ReadAt<std::uint32_t>(*packed, 0);
  if (!magic) return "a frame that is cut off";
  Take(packed, sizeof *magic);
  if ((*magic & ~15u) == kSkippedMagic) {
    const auto size = ReadAt<std::uint32_t>(*packed, 0);
    return size && Take(packed, std::uint64_t{*size} + 4) ? nullptr : "a frame that is cut off";
  }
  if (*magic != kMagic) return "another magic number than 0xfd2fb528";
  Header header;
  if (const char* problem = TakeHeader(packed, &header)) return problem;
  zstd::BlockReader reader(out);
  for (bool last = false; !last;) {
    if (const char* problem = TakeBlock(packed, most, &reader, out, &last)) return problem;
  }
  return !header.checksum || Take(packed, 4) ? nullptr : "a checksum that is cut off";
}

}  // namespace

std::optional<std::vector<std::uint8_t>> UnpackZstd(View packed, std::size_t bytes, std::string* error) {
  std::vector<std::uint8_t> out;
  out.reserve(std::min<std::size_t>(bytes, std::size_t{1} << 24));  // a false size cannot ask for more
  const char* problem = nullptr;
  while (problem == nullptr && !packed.empty()) problem = TakeFrame(&packed, bytes, &out);
  if (problem == nullptr && out.size() == bytes) return out;
  *error = crossover::base::Refusal("Zstandard frame", std::to_string(bytes) + " bytes",
                                    problem != nullptr ? problem : std::to_string(out.size()));
  return std::nullopt;
}

}  // namespace simgpu::image
