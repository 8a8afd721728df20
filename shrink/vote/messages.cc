#include "shrink/vote/messages.h"

#include <algorithm>
#include <cstring>

namespace crossover::shrink::vote {
namespace {

// Returns how many bytes a message of this type has, or 0.
std::size_t SizeOf(std::uint32_t type) {
  switch (static_cast<Type>(type)) {
    case Type::kGreeting:
      return sizeof(WireGreeting);
    case Type::kHello:
      return sizeof(WireHello);
    case Type::kNo:
      return sizeof(WireNo);
    case Type::kVerdict:
      return sizeof(WireVerdict);
  }
  return 0;
}

// Returns whether messages of this type have the same form in all versions.
bool IsOfAllVersions(std::uint32_t type) {
  return static_cast<Type>(type) == Type::kGreeting || static_cast<Type>(type) == Type::kNo;
}

// REQUIRES: `bytes` has at least as many bytes as T.
template <class T>
T Copy(std::span<const std::byte> bytes) {
  T value;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

// Returns the type of the message in `bytes`, or 0 and sets `reason`.
std::uint32_t TypeOf(std::span<const std::byte> bytes, Reason* reason) {
  if (bytes.size() < sizeof(WireHead)) {
    *reason = MakeReason("message of the vote: size: expected at least %zu, got %zu", sizeof(WireHead),
                         bytes.size());
    return 0;
  }
  const std::size_t size = BytesOf(bytes, reason);
  if (size == 0) return 0;
  if (size != bytes.size()) {
    *reason = MakeReason("message of the vote: size: expected %zu, got %zu", size, bytes.size());
    return 0;
  }
  return Copy<WireHead>(bytes).type;
}

bool Within(std::uint32_t value, std::uint32_t least, std::uint32_t most, const char* key, Reason* reason) {
  if (value >= least && value <= most) return true;
  if (least == most) {
    *reason = MakeReason("%s: expected %u, got %u", key, least, value);
  } else {
    *reason = MakeReason("%s: expected %u to %u, got %u", key, least, most, value);
  }
  return false;
}

Id IdOf(const std::uint8_t (&bytes)[kIdBytes]) {
  Id id;
  std::copy(std::begin(bytes), std::end(bytes), id.begin());
  return id;
}

constexpr std::uint32_t kFirstCodec = static_cast<std::uint32_t>(Codec::kBf16);
constexpr std::uint32_t kLastCodec = static_cast<std::uint32_t>(Codec::kAdaptive);

ToCollector ReadHello(const WireHello& wire) {
  Reason reason;
  if (!Within(wire.ranks, 2, kMostRanks, "hello: ranks", &reason) ||
      !Within(wire.rank, 1, wire.ranks - 1, "hello: rank", &reason) ||
      !Within(wire.codec, kFirstCodec, kLastCodec, "hello: codec", &reason) ||
      !Within(wire.level, 1, kMostLevel, "hello: level", &reason) ||
      !Within(wire.budget_mib, 1, UINT32_MAX, "hello: budget", &reason) ||
      !Within(wire.reserved, 0, 0, "hello: reserved", &reason)) {
    return Broken{reason};
  }
  return Hello{IdOf(wire.id),
               wire.ranks,
               wire.rank,
               {wire.build, static_cast<Codec>(wire.codec), wire.level, wire.budget_mib}};
}

ToVoter ReadVerdict(const WireVerdict& wire) {
  Reason reason;
  const bool narrow = wire.choice == static_cast<std::uint32_t>(Choice::kNarrow);
  if (!Within(wire.choice, 1, 2, "verdict of rank 0: choice", &reason) ||
      !Within(wire.rank, narrow ? 1 : 0, kMostRanks - 1, "verdict of rank 0: rank", &reason) ||
      !Within(wire.codec, narrow ? kFirstCodec : 0, narrow ? kLastCodec : 0, "verdict of rank 0: codec",
              &reason) ||
      !Within(wire.level, narrow ? 1 : 0, narrow ? kMostLevel : 0, "verdict of rank 0: level", &reason) ||
      !Within(wire.budget_mib, narrow ? 1 : 0, narrow ? UINT32_MAX : 0, "verdict of rank 0: budget",
              &reason) ||
      !Within(wire.why, 0, narrow ? 0 : UINT32_MAX, "verdict of rank 0: why", &reason)) {
    return Broken{reason};
  }
  Verdict verdict;
  verdict.rank = wire.rank;
  verdict.reason = As(PlainReason{wire.why}, ReadReason(wire.reason));
  if (!narrow) return verdict;
  verdict.choice = Choice::kNarrow;
  verdict.codec = static_cast<Codec>(wire.codec);
  verdict.level = wire.level;
  verdict.budget_mib = wire.budget_mib;
  return verdict;
}

template <class Wire>
WireHead HeadOf(Type type) {
  return {kMagic, kVersion, static_cast<std::uint32_t>(type), sizeof(Wire)};
}

}  // namespace

const char* Name(Codec codec) {
  switch (codec) {
    case Codec::kBf16:
      return "bf16";
    case Codec::kQ8:
      return "q8";
    case Codec::kAdaptive:
      return "adaptive";
  }
  return "?";
}

std::size_t BytesOf(std::span<const std::byte> bytes, Reason* reason) {
  const auto head = Copy<WireHead>(bytes);
  if (head.magic != kMagic) {
    *reason = MakeReason("message of the vote: magic: expected %08x, got %08x", kMagic, head.magic);
    return 0;
  }
  const std::size_t size = SizeOf(head.type);
  if (size == 0) {
    *reason = MakeReason("message of the vote: type: expected 1 to 4, got %u", head.type);
    return 0;
  }
  if (head.version != kVersion && !IsOfAllVersions(head.type)) {
    *reason = MakeReason(
        "message of the vote: version: expected %u, got %u; run one version of the library on all ranks",
        kVersion, head.version);
    return 0;
  }
  if (head.bytes != size) {
    *reason = MakeReason("message of the vote: size in its head: expected %zu, got %u", size, head.bytes);
    return 0;
  }
  return size;
}

ToCollector ParseForCollector(std::span<const std::byte> bytes) {
  Reason reason;
  const std::uint32_t type = TypeOf(bytes, &reason);
  if (type == static_cast<std::uint32_t>(Type::kHello)) return ReadHello(Copy<WireHello>(bytes));
  if (type == static_cast<std::uint32_t>(Type::kNo)) {
    const auto wire = Copy<WireNo>(bytes);
    return No{IdOf(wire.id), wire.rank, wire.why};
  }
  if (type != 0) reason = MakeReason("message of the vote: type: expected hello (2) or no (3), got %u", type);
  return Broken{reason};
}

ToVoter ParseForVoter(std::span<const std::byte> bytes) {
  Reason reason;
  const std::uint32_t type = TypeOf(bytes, &reason);
  if (type == static_cast<std::uint32_t>(Type::kGreeting)) return Greeting{Copy<WireHead>(bytes).version};
  if (type == static_cast<std::uint32_t>(Type::kVerdict)) return ReadVerdict(Copy<WireVerdict>(bytes));
  if (type != 0)
    reason = MakeReason("message of the vote: type: expected greeting (1) or verdict (4), got %u", type);
  return Broken{reason};
}

WireGreeting MakeGreeting() { return {HeadOf<WireGreeting>(Type::kGreeting)}; }

WireHello MakeHello(const Hello& hello) {
  WireHello wire{};
  wire.head = HeadOf<WireHello>(Type::kHello);
  std::copy(hello.id.begin(), hello.id.end(), wire.id);
  wire.build = hello.proposal.build;
  wire.ranks = hello.ranks;
  wire.rank = hello.rank;
  wire.codec = static_cast<std::uint32_t>(hello.proposal.codec);
  wire.level = hello.proposal.level;
  wire.budget_mib = hello.proposal.budget_mib;
  return wire;
}

WireNo MakeNo(const Hello& own, Why why) {
  WireNo wire{};
  wire.head = HeadOf<WireNo>(Type::kNo);
  std::copy(own.id.begin(), own.id.end(), wire.id);
  wire.rank = own.rank;
  wire.why = static_cast<std::uint32_t>(why);
  return wire;
}

WireVerdict MakeVerdict(const Verdict& verdict) {
  WireVerdict wire{};
  wire.head = HeadOf<WireVerdict>(Type::kVerdict);
  wire.choice = static_cast<std::uint32_t>(verdict.choice);
  wire.rank = verdict.rank;
  std::memcpy(wire.reason, verdict.reason.text, sizeof wire.reason);
  if (verdict.choice == Choice::kPlain) {
    wire.why = static_cast<std::uint32_t>(verdict.reason.why);
    return wire;
  }
  wire.codec = static_cast<std::uint32_t>(verdict.codec);
  wire.level = verdict.level;
  wire.budget_mib = verdict.budget_mib;
  return wire;
}

}  // namespace crossover::shrink::vote
