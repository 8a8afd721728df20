// Encodes and decodes what the ranks of a communicator say to each other over TCP. It makes no I/O.
//
// A connection carries frames: a header and at most kMaxPayload bytes that depend on the kind. All numbers
// are little endian and of fixed width. All that arrives is checked here before other code uses it. A frame
// that is refused ends the connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "simgpu/nccl/types.h"

namespace simgpu::nccl {

inline constexpr std::uint32_t kWireMagic = 0x434e4753;  // "SGNC"
inline constexpr std::uint32_t kWireVersion = 2;
inline constexpr std::uint32_t kMaxPayload = 1u << 20;
inline constexpr std::uint32_t kMaxRanks = 1024;
inline constexpr std::size_t kMaxText = 1024;

enum class Kind : std::uint32_t {
  kJoin = 1,      // rank -> root: this rank has come
  kTable = 2,     // root -> rank: the table of all ranks
  kHello = 3,     // rank -> rank: what this connection is for
  kCall = 4,      // to the successor or the peer: the call that this rank makes now
  kAnnounce = 5,  // these bytes are on their way, and the receiver's link starts to serve them
  kPiece = 6,     // the bytes themselves
  kError = 7,     // the communicator has failed, and the reason
  kControl = 8,   // the data that hosts exchange in a split
  kBye = 9,       // to the predecessor: this rank leaves without a failure
  kHollow = 10,   // in place of kPiece: the bytes are due, and their values do not matter
};
inline constexpr std::uint32_t kKinds = 10;

struct FrameHeader {
  std::uint32_t magic = kWireMagic;
  Kind kind = Kind::kError;
  std::uint32_t bytes = 0;     // bytes of the payload
  std::uint32_t sequence = 0;  // number of the call, if the kind belongs to one
};
static_assert(sizeof(FrameHeader) == 16);

// An Endpoint is an IPv4 or IPv6 address with a port.
struct Endpoint {
  std::uint32_t family = 0;  // 4 or 6
  std::uint32_t port = 0;
  std::uint8_t address[16] = {};
};

// A Member is what every rank knows of one rank. `node` tells which ranks share a machine.
struct Member {
  Endpoint listener;
  std::uint32_t device = 0;
  std::uint32_t pid = 0;
  char node[64] = {};  // ends with a zero byte
};

// A Join is what a rank sends to the root.
struct Join {
  std::uint64_t nonce = 0;  // nonce of the unique ID
  std::uint32_t version = kWireVersion;
  std::uint32_t ranks = 0;
  std::uint32_t rank = 0;
  std::uint32_t library = 0;  // result of ncclGetVersion
  Member self;
};

enum class Purpose : std::uint32_t { kRing = 1, kControl = 2, kPeer = 3 };

// A Hello is the first frame on a connection between ranks.
struct Hello {
  std::uint64_t nonce = 0;
  std::uint32_t rank = 0;  // rank of the connecting side
  Purpose purpose = Purpose::kRing;
};

struct CallFrame {
  std::uint32_t function = 0;
  std::uint32_t type = 0;
  std::uint32_t op = 0;
  std::int32_t root = -1;
  std::uint64_t count = 0;
};

// A PieceFrame is the payload of kAnnounce and kHollow; in kPiece it comes before the bytes.
struct PieceFrame {
  std::uint32_t step = 0;
  std::uint32_t bytes = 0;
  std::uint64_t offset = 0;  // within the step's range
};

struct ErrorFrame {
  ncclResult_t result = ncclRemoteError;
  std::string text;
};

// A Rendezvous is the content of an ncclUniqueId.
struct Rendezvous {
  Endpoint root;
  std::uint64_t nonce = 0;
};

// Each encodes a complete frame, ready to be sent.
std::vector<std::byte> EncodeJoin(const Join& join);
std::vector<std::byte> EncodeTable(std::span<const Member> members);
std::vector<std::byte> EncodeHello(const Hello& hello);
std::vector<std::byte> EncodeCall(std::uint32_t sequence, const Call& call);
std::vector<std::byte> EncodeAnnounce(std::uint32_t sequence, const PieceFrame& piece);
std::vector<std::byte> EncodePiece(std::uint32_t sequence, const PieceFrame& piece, const std::byte* data);
std::vector<std::byte> EncodeHollow(std::uint32_t sequence, const PieceFrame& piece);
std::vector<std::byte> EncodeError(const ErrorFrame& error);
std::vector<std::byte> EncodeBye();
std::vector<std::byte> EncodeControl(std::span<const std::byte> payload);
void EncodeUniqueId(const Rendezvous& where, ncclUniqueId* id);

// Each returns no value if the input is not exactly what it should be. DecodeAnnounce() decodes kHollow, too.
std::optional<FrameHeader> DecodeHeader(std::span<const std::byte> bytes);  // needs sizeof(FrameHeader)
std::optional<Join> DecodeJoin(std::span<const std::byte> payload);
std::optional<std::vector<Member>> DecodeTable(std::span<const std::byte> payload);
std::optional<Hello> DecodeHello(std::span<const std::byte> payload);
std::optional<Call> DecodeCall(std::span<const std::byte> payload);
std::optional<PieceFrame> DecodeAnnounce(std::span<const std::byte> payload);
// Sets *data to the bytes inside `payload`.
std::optional<PieceFrame> DecodePiece(std::span<const std::byte> payload, std::span<const std::byte>* data);
std::optional<ErrorFrame> DecodeError(std::span<const std::byte> payload);
std::optional<Rendezvous> DecodeUniqueId(const ncclUniqueId& id);

// A FrameReader cuts a stream of bytes into frames.
class FrameReader {
 public:
  struct Frame {
    FrameHeader header;
    std::span<const std::byte> payload;  // valid until the next call on the reader
  };

  // Space() returns room for the next bytes of the stream, never empty. Received() then says how many came.
  std::span<std::byte> Space();
  void Received(std::size_t bytes) { filled_ += bytes; }

  // Returns the next complete frame, if there is one. Once broken() is true, the stream cannot be read any
  // further.
  std::optional<Frame> Next();
  bool broken() const { return broken_; }
  // Returns true if no part of a frame is waiting.
  bool between_frames() const { return begin_ == filled_; }

 private:
  std::vector<std::byte> buffer_;
  std::size_t begin_ = 0;   // begin of what Next() has not returned yet
  std::size_t filled_ = 0;  // end of what was received
  bool broken_ = false;
};

}  // namespace simgpu::nccl
