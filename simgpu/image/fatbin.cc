#include "simgpu/image/fatbin.h"

#include "common/base/hash.h"
#include "common/base/refusal.h"
#include "simgpu/image/cubin.h"
#include "simgpu/image/lz4.h"
#include "simgpu/image/ptx.h"
#include "simgpu/image/zstd.h"

namespace simgpu::image {
namespace {

using crossover::base::Refusal;

struct FatbinHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_bytes;
  std::uint64_t bytes;  // of the entries behind this header
};
static_assert(sizeof(FatbinHeader) == 16);

struct EntryHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_bytes;
  std::uint64_t bytes;         // of the image behind this header, with what fills it up
  std::uint32_t packed_bytes;  // of a packed image alone
  std::uint32_t options_at;
  std::uint16_t minor_version;
  std::uint16_t major_version;
  std::uint32_t architecture;
  std::uint32_t name_at;
  std::uint32_t name_bytes;
  std::uint64_t flags;
  std::uint64_t unused;
  std::uint64_t unpacked_bytes;
};
static_assert(sizeof(EntryHeader) == 64);

constexpr std::uint16_t kPtxKind = 1, kCubinKind = 2;
constexpr std::uint64_t kLz4Flag = 0x2000, kZstdFlag = 0x8000;
constexpr std::uint64_t kMostUnpacked = std::uint64_t{1} << 31;

Choice Malformed(const std::string& key, const std::string& expected, const std::string& got) {
  return {Choice::State::kMalformed, {}, Refusal(key, expected, got)};
}

bool Fits(const Payload& payload, int architecture) {
  if (payload.architecture > architecture) return false;
  return payload.form == Form::kPtx || payload.architecture / 10 == architecture / 10;
}

// Returns whether `a` goes before `b`. REQUIRES: both fit.
bool IsBetter(const Payload& a, const Payload& b) {
  if (a.form != b.form) return a.form == Form::kCubin;
  return a.architecture > b.architecture;
}

// Describes the image of an entry. Returns no value if its size is impossible.
std::optional<Payload> PayloadOf(const EntryHeader& entry, View content) {
  Payload payload;
  payload.form = entry.kind == kPtxKind ? Form::kPtx : Form::kCubin;
  payload.architecture = static_cast<int>(entry.architecture);
  payload.bytes = content;
  payload.unpacked_bytes = content.size();
  if ((entry.flags & (kLz4Flag | kZstdFlag)) == 0) return payload;
  payload.packing = (entry.flags & kLz4Flag) != 0 ? Packing::kLz4 : Packing::kZstd;
  const std::optional<View> packed = Part(content, 0, entry.packed_bytes);
  if (!packed || entry.unpacked_bytes > kMostUnpacked) return std::nullopt;
  payload.bytes = *packed;
  payload.unpacked_bytes = entry.unpacked_bytes;
  return payload;
}

Choice ChooseEntry(View entries, int architecture) {
  Choice choice{Choice::State::kNoneFits, {}, {}};
  std::string offered;
  for (std::uint64_t at = 0; at < entries.size();) {
    const std::string key = "fat binary, entry at " + std::to_string(at);
    const auto entry = ReadAt<EntryHeader>(entries, at);
    if (!entry || entry->header_bytes < sizeof(EntryHeader)) {
      return Malformed(key, "a header of at least 64 bytes",
                       entry ? std::to_string(entry->header_bytes) : std::to_string(entries.size() - at));
    }
    const auto content = Part(entries, at + entry->header_bytes, entry->bytes);
    const auto payload = content ? PayloadOf(*entry, *content) : std::nullopt;
    if (!payload) {
      return Malformed(
          key, "an image within the fat binary, of 2 GiB at most",
          std::to_string(entry->bytes) + " bytes, unpacked " + std::to_string(entry->unpacked_bytes));
    }
    at += entry->header_bytes + entry->bytes;
    if (entry->kind != kPtxKind && entry->kind != kCubinKind) continue;
    offered += (entry->kind == kPtxKind ? " compute_" : " sm_") + std::to_string(payload->architecture);
    if (!Fits(*payload, architecture)) continue;
    if (choice.state == Choice::State::kChosen && !IsBetter(*payload, choice.payload)) continue;
    choice = {Choice::State::kChosen, *payload, {}};
  }
  if (choice.state == Choice::State::kNoneFits) {
    choice.text = Refusal("fat binary", "an image for sm_" + std::to_string(architecture),
                          offered.empty() ? "none" : "those for" + offered);
  }
  return choice;
}

Choice ChooseInFatbin(View bytes, int architecture) {
  const auto header = ReadAt<FatbinHeader>(bytes, 0);
  if (!header || header->version != 1 || header->header_bytes < sizeof(FatbinHeader)) {
    return Malformed("fat binary", "a header of version 1 and of 16 bytes",
                     header ? "version " + std::to_string(header->version) + " and " +
                                  std::to_string(header->header_bytes) + " bytes"
                            : std::to_string(bytes.size()) + " bytes");
  }
  const auto entries = Part(bytes, header->header_bytes, header->bytes);
  if (entries) return ChooseEntry(*entries, architecture);
  return Malformed("fat binary", std::to_string(header->bytes) + " bytes, as its header says",
                   std::to_string(bytes.size()));
}

// Returns the image that stands alone, or a refusal if the GPU cannot run it.
Choice ChooseAlone(Payload payload, int architecture) {
  if (Fits(payload, architecture)) return {Choice::State::kChosen, payload, {}};
  return {Choice::State::kNoneFits,
          {},
          Refusal(payload.form == Form::kPtx ? "PTX" : "machine code",
                  "an image for sm_" + std::to_string(architecture),
                  "one for " + std::to_string(payload.architecture))};
}

std::string_view TextOf(View bytes) {
  if (bytes.empty()) return {};  // strnlen() takes no null pointer
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  return {begin, strnlen(begin, bytes.size())};
}

Choice ChooseCubin(View bytes, int architecture) {
  std::string error;
  const auto size = SizeOfCubin(bytes, &error);
  const auto own = size ? ArchitectureOfCubin(bytes, &error) : std::nullopt;
  if (!own) return {Choice::State::kMalformed, {}, error};
  return ChooseAlone(
      {Form::kCubin, Packing::kNone, *own, bytes.first(static_cast<std::size_t>(*size)), *size},
      architecture);
}

}  // namespace

Choice Choose(View bytes, int architecture) {
  if (ReadAt<std::uint32_t>(bytes, 0) == kFatbinMagic) return ChooseInFatbin(bytes, architecture);
  if (IsElf(bytes)) return ChooseCubin(bytes, architecture);
  // A text does not begin with any other byte. Only a text may be read up to its NUL.
  const bool text = !bytes.empty() && (bytes[0] == '/' || bytes[0] == '.' || bytes[0] == ' ' ||
                                       (bytes[0] >= '\t' && bytes[0] <= '\r'));
  if (text && IsPtx(TextOf(bytes))) {
    const std::string_view ptx = TextOf(bytes);
    const int own = ArchitectureOfPtx(ptx);
    if (own == 0)
      return Malformed("PTX", "'.target' with an architecture such as sm_90 behind '.version'", "others");
    return ChooseAlone({Form::kPtx, Packing::kNone, own, bytes.first(ptx.size()), ptx.size()}, architecture);
  }
  const auto first = crossover::base::HexOf(ReadAt<std::uint32_t>(bytes, 0).value_or(0));
  return {Choice::State::kUnknownForm,
          {},
          Refusal("module image", "a fat binary (0xba55ed50), an ELF file, PTX or '// simgpu 1'",
                  "bytes that begin with 0x" + std::string(first.data() + 8))};
}

std::optional<Image> Parse(const Payload& payload, std::string* error) {
  std::optional<std::vector<std::uint8_t>> unpacked;
  View bytes = payload.bytes;
  if (payload.packing != Packing::kNone) {
    unpacked = payload.packing == Packing::kLz4
                   ? UnpackLz4(bytes, static_cast<std::size_t>(payload.unpacked_bytes), error)
                   : UnpackZstd(bytes, static_cast<std::size_t>(payload.unpacked_bytes), error);
    if (!unpacked) return std::nullopt;
    bytes = *unpacked;
  }
  return payload.form == Form::kCubin ? ParseCubin(bytes, error) : ParsePtx(TextOf(bytes), error);
}

}  // namespace simgpu::image
