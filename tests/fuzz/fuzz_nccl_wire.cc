// libs: simgpu_nccl_core
// Decodes everything that arrives from another rank before it is believed. The stream is cut into frames in
// portions that the input chooses, every frame goes to its decoder, and a unique id is decoded, too.
#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "simgpu/nccl/wire.h"

using namespace simgpu::nccl;

namespace {

void Require(bool condition) {
  if (!condition) std::abort();
}

void DecodePayload(const FrameReader::Frame& frame) {
  std::span<const std::byte> data;
  switch (frame.header.kind) {
    case Kind::kJoin:
      if (const auto join = DecodeJoin(frame.payload)) Require(join->rank < join->ranks);
      break;
    case Kind::kTable:
      if (const auto table = DecodeTable(frame.payload)) {
        for (const Member& member : *table) Require(std::strlen(member.node) < sizeof member.node);
      }
      break;
    case Kind::kHello:
      if (const auto hello = DecodeHello(frame.payload)) Require(hello->rank < kMaxRanks);
      break;
    case Kind::kCall:
      if (const auto call = DecodeCall(frame.payload)) {
        const auto again = EncodeCall(0, *call);
        Require(DecodeCall(std::span(again).subspan(sizeof(FrameHeader))) == *call);
        Require(!Describe(*call).empty());
      }
      break;
    case Kind::kAnnounce:
    case Kind::kHollow:
      if (const auto piece = DecodeAnnounce(frame.payload)) Require(piece->bytes > 0);
      break;
    case Kind::kPiece:
      if (const auto piece = DecodePiece(frame.payload, &data)) Require(data.size() == piece->bytes);
      break;
    case Kind::kError:
      if (const auto error = DecodeError(frame.payload)) Require(error->text.find('\n') == std::string::npos);
      break;
    case Kind::kControl:
    case Kind::kBye:
      break;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* input, std::size_t size) {
  ncclUniqueId id{};
  if (size > 0) std::memcpy(id.internal, input, std::min(size, sizeof id.internal));
  if (const auto where = DecodeUniqueId(id)) Require(where->root.port > 0 && where->root.port < 65536);

  FrameReader reader;
  for (std::size_t at = 0; at + 1 < size && !reader.broken();) {
    const std::size_t portion = std::min<std::size_t>(std::size_t{1} + input[at], size - at - 1);
    const auto space = reader.Space();
    Require(space.size() >= 256);
    std::memcpy(space.data(), input + at + 1, portion);
    reader.Received(portion);
    at += 1 + portion;
    while (const auto frame = reader.Next()) {
      Require(frame->payload.size() == frame->header.bytes && frame->header.bytes <= kMaxPayload);
      DecodePayload(*frame);
    }
  }
  return 0;
}
