#include "simgpu/nccl/wire.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

namespace simgpu::nccl {

static_assert(std::endian::native == std::endian::little, "structures are sent as they lie in memory");

namespace {

using Bytes = std::vector<std::byte>;

// This is the layout of an ncclUniqueId.
struct UniqueIdLayout {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint64_t nonce;
  Endpoint root;
  char unused[NCCL_UNIQUE_ID_BYTES - 16 - sizeof(Endpoint)];
};
static_assert(sizeof(UniqueIdLayout) == NCCL_UNIQUE_ID_BYTES);

Bytes Frame(Kind kind, std::uint32_t sequence, std::size_t payload_bytes) {
  const FrameHeader header{kWireMagic, kind, static_cast<std::uint32_t>(payload_bytes), sequence};
  Bytes frame(sizeof header + payload_bytes);
  std::memcpy(frame.data(), &header, sizeof header);
  return frame;
}

template <typename T>
Bytes Encode(Kind kind, std::uint32_t sequence, const T& value) {
  static_assert(std::has_unique_object_representations_v<T>, "no padding on the wire");
  Bytes frame = Frame(kind, sequence, sizeof value);
  std::memcpy(frame.data() + sizeof(FrameHeader), &value, sizeof value);
  return frame;
}

template <typename T>
std::optional<T> Decode(std::span<const std::byte> payload) {
  if (payload.size() != sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, payload.data(), sizeof value);
  return value;
}

bool Valid(const Endpoint& endpoint) {
  return (endpoint.family == 4 || endpoint.family == 6) && endpoint.port > 0 && endpoint.port < 65536;
}

bool Valid(const Member& member) {
  return Valid(member.listener) && std::memchr(member.node, 0, sizeof member.node) != nullptr;
}

bool Valid(const PieceFrame& piece) { return piece.bytes > 0 && piece.bytes <= kMaxPayload - sizeof piece; }

}  // namespace

Bytes EncodeJoin(const Join& join) { return Encode(Kind::kJoin, 0, join); }

Bytes EncodeTable(std::span<const Member> members) {
  Bytes frame = Frame(Kind::kTable, 0, members.size_bytes());
  if (!members.empty()) std::memcpy(frame.data() + sizeof(FrameHeader), members.data(), members.size_bytes());
  return frame;
}

Bytes EncodeHello(const Hello& hello) { return Encode(Kind::kHello, 0, hello); }

Bytes EncodeCall(std::uint32_t sequence, const Call& call) {
  const CallFrame frame{static_cast<std::uint32_t>(call.function), static_cast<std::uint32_t>(call.type),
                        static_cast<std::uint32_t>(call.op), call.root, call.count};
  return Encode(Kind::kCall, sequence, frame);
}

Bytes EncodeAnnounce(std::uint32_t sequence, const PieceFrame& piece) {
  return Encode(Kind::kAnnounce, sequence, piece);
}

Bytes EncodePiece(std::uint32_t sequence, const PieceFrame& piece, const std::byte* data) {
  Bytes frame = Frame(Kind::kPiece, sequence, sizeof piece + piece.bytes);
  std::memcpy(frame.data() + sizeof(FrameHeader), &piece, sizeof piece);
  std::memcpy(frame.data() + sizeof(FrameHeader) + sizeof piece, data, piece.bytes);
  return frame;
}

Bytes EncodeHollow(std::uint32_t sequence, const PieceFrame& piece) {
  return Encode(Kind::kHollow, sequence, piece);
}

Bytes EncodeError(const ErrorFrame& error) {
  const std::size_t text = std::min(error.text.size(), kMaxText);
  const auto result = static_cast<std::uint32_t>(error.result);
  Bytes frame = Frame(Kind::kError, 0, sizeof result + text);
  std::memcpy(frame.data() + sizeof(FrameHeader), &result, sizeof result);
  std::memcpy(frame.data() + sizeof(FrameHeader) + sizeof result, error.text.data(), text);
  return frame;
}

Bytes EncodeBye() { return Frame(Kind::kBye, 0, 0); }

Bytes EncodeControl(std::span<const std::byte> payload) {
  Bytes frame = Frame(Kind::kControl, 0, payload.size());
  if (!payload.empty()) std::memcpy(frame.data() + sizeof(FrameHeader), payload.data(), payload.size());
  return frame;
}

void EncodeUniqueId(const Rendezvous& where, ncclUniqueId* id) {
  UniqueIdLayout layout{};
  layout.magic = kWireMagic;
  layout.version = kWireVersion;
  layout.nonce = where.nonce;
  layout.root = where.root;
  std::memcpy(id->internal, &layout, sizeof layout);
}

std::optional<FrameHeader> DecodeHeader(std::span<const std::byte> bytes) {
  if (bytes.size() < sizeof(FrameHeader)) return std::nullopt;
  FrameHeader header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto kind = static_cast<std::uint32_t>(header.kind);
  if (header.magic != kWireMagic || kind == 0 || kind > kKinds || header.bytes > kMaxPayload)
    return std::nullopt;
  return header;
}

std::optional<Join> DecodeJoin(std::span<const std::byte> payload) {
  const auto join = Decode<Join>(payload);
  if (!join || join->ranks == 0 || join->ranks > kMaxRanks || join->rank >= join->ranks) return std::nullopt;
  if (!Valid(join->self)) return std::nullopt;
  return join;
}

std::optional<std::vector<Member>> DecodeTable(std::span<const std::byte> payload) {
  const std::size_t count = payload.size() / sizeof(Member);
  if (payload.size() % sizeof(Member) != 0 || count == 0 || count > kMaxRanks) return std::nullopt;
  std::vector<Member> members(count);
  std::memcpy(members.data(), payload.data(), payload.size());
  if (!std::all_of(members.begin(), members.end(), [](const Member& m) { return Valid(m); }))
    return std::nullopt;
  return members;
}

std::optional<Hello> DecodeHello(std::span<const std::byte> payload) {
  const auto hello = Decode<Hello>(payload);
  if (!hello || hello->rank >= kMaxRanks) return std::nullopt;
  const auto purpose = static_cast<std::uint32_t>(hello->purpose);
  if (purpose < 1 || purpose > 3) return std::nullopt;
  return hello;
}

std::optional<Call> DecodeCall(std::span<const std::byte> payload) {
  const auto frame = Decode<CallFrame>(payload);
  if (!frame || frame->function >= kFunctions || frame->type >= ncclNumTypes || frame->op >= ncclNumOps) {
    return std::nullopt;
  }
  return Call{static_cast<Function>(frame->function), static_cast<ncclDataType_t>(frame->type),
              static_cast<ncclRedOp_t>(frame->op), frame->root, frame->count};
}

std::optional<PieceFrame> DecodeAnnounce(std::span<const std::byte> payload) {
  const auto piece = Decode<PieceFrame>(payload);
  return piece && Valid(*piece) ? piece : std::nullopt;
}

std::optional<PieceFrame> DecodePiece(std::span<const std::byte> payload, std::span<const std::byte>* data) {
  if (payload.size() < sizeof(PieceFrame)) return std::nullopt;
  const auto piece = Decode<PieceFrame>(payload.first(sizeof(PieceFrame)));
  *data = payload.subspan(sizeof(PieceFrame));
  return Valid(*piece) && data->size() == piece->bytes ? piece : std::nullopt;
}

std::optional<ErrorFrame> DecodeError(std::span<const std::byte> payload) {
  std::uint32_t result = 0;
  if (payload.size() < sizeof result || payload.size() > sizeof result + kMaxText) return std::nullopt;
  std::memcpy(&result, payload.data(), sizeof result);
  if (result == ncclSuccess || result >= ncclNumResults) return std::nullopt;
  ErrorFrame error{static_cast<ncclResult_t>(result), std::string(payload.size() - sizeof result, ' ')};
  // The text goes to a log, so replace characters that end a line or control a terminal.
  std::transform(payload.begin() + sizeof result, payload.end(), error.text.begin(), [](std::byte b) {
    const auto c = std::to_integer<unsigned char>(b);
    return c < 0x20 || c == 0x7f ? '?' : static_cast<char>(c);
  });
  return error;
}

std::optional<Rendezvous> DecodeUniqueId(const ncclUniqueId& id) {
  UniqueIdLayout layout;
  std::memcpy(&layout, id.internal, sizeof layout);
  if (layout.magic != kWireMagic || layout.version != kWireVersion || !Valid(layout.root))
    return std::nullopt;
  return Rendezvous{layout.root, layout.nonce};
}

std::span<std::byte> FrameReader::Space() {
  constexpr std::size_t kMinSpace = 16 * 1024;
  if (begin_ == filled_) begin_ = filled_ = 0;
  if (buffer_.size() - filled_ < kMinSpace && begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, filled_ - begin_);
    filled_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - filled_ < kMinSpace) buffer_.resize(std::max(2 * buffer_.size(), 4 * kMinSpace));
  return std::span(buffer_).subspan(filled_);
}

std::optional<FrameReader::Frame> FrameReader::Next() {
  const auto waiting = std::span<const std::byte>(buffer_).subspan(begin_, filled_ - begin_);
  if (broken_ || waiting.size() < sizeof(FrameHeader)) return std::nullopt;
  const auto header = DecodeHeader(waiting);
  if (!header) {
    broken_ = true;
    return std::nullopt;
  }
  const std::size_t whole = sizeof(FrameHeader) + header->bytes;
  if (waiting.size() < whole) return std::nullopt;
  begin_ += whole;
  return Frame{*header, waiting.subspan(sizeof(FrameHeader), header->bytes)};
}

}  // namespace simgpu::nccl
