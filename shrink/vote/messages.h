// Defines the messages of a vote between the process of rank 0 and those of the other ranks, over TCP, and
// parses them. The other end of a connection is not trusted. Pure; allocates nothing.
//
//     rank                            rank 0
//       connect   ------------------->
//                 <-------------------  Greeting
//       Hello     ------------------->           (or No, and the rank closes the connection)
//                 <-------------------  Verdict
//
// Rank 0 speaks first: a rank says hello only to a process that has greeted it, because a rank that has said
// hello cannot continue without a verdict. The Greeting and the No have the same form in all versions, so
// that ranks of two versions run plain. Fields have fixed widths and are little endian.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include "shrink/vote/reason.h"

namespace crossover::shrink::vote {

inline constexpr std::uint32_t kMagic = 0x5456534fu;  // "OSVT"
inline constexpr std::uint32_t kVersion = 2;
inline constexpr std::size_t kIdBytes = 128;  // of ncclUniqueId
inline constexpr std::uint32_t kMostRanks = 1u << 20;
inline constexpr std::uint32_t kMostLevel = 32;

// Rank 0 waits for the hellos so long. A rank waits so long for the greeting, and so long for the verdict:
// longer than rank 0, so that a verdict for lack of time arrives.
inline constexpr std::uint32_t kCollectorLimitMs = 10'000;
inline constexpr std::uint32_t kGreetingLimitMs = 10'000;
inline constexpr std::uint32_t kVerdictLimitMs = 20'000;

enum class Type : std::uint32_t { kGreeting = 1, kHello = 2, kNo = 3, kVerdict = 4 };

// These structures are what is on the wire.
struct WireHead {
  std::uint32_t magic;
  std::uint32_t version;
  std::uint32_t type;   // enum Type
  std::uint32_t bytes;  // of the whole message
};
struct WireGreeting {
  WireHead head;
};
struct WireHello {
  WireHead head;
  std::uint8_t id[kIdBytes];
  std::uint64_t build;
  std::uint32_t ranks;
  std::uint32_t rank;   // 1 to ranks - 1
  std::uint32_t codec;  // enum Codec
  std::uint32_t level;  // 1 to kMostLevel
  std::uint32_t budget_mib;
  std::uint32_t reserved;  // 0
};
struct WireNo {
  WireHead head;
  std::uint8_t id[kIdBytes];
  std::uint32_t rank;
  std::uint32_t why;  // enum Why; a later version may have others
};
struct WireVerdict {
  WireHead head;
  std::uint32_t choice;      // enum Choice
  std::uint32_t rank;        // that it is for; 0 in a plain verdict for a rank whose hello is not read yet
  std::uint32_t codec;       // these three are 0 if the choice is plain
  std::uint32_t level;       //
  std::uint32_t budget_mib;  // the least of all ranks
  std::uint32_t why;         // base::PlainReason, any value; 0 if the choice is narrow
  char reason[kReasonBytes];
};
static_assert(sizeof(WireHead) == 16 && sizeof(WireGreeting) == 16, "wire size");
static_assert(sizeof(WireHello) == 16 + 128 + 8 + 24, "wire size");
static_assert(sizeof(WireNo) == 16 + 128 + 8, "wire size");
static_assert(sizeof(WireVerdict) == 16 + 24 + 128, "wire size");
inline constexpr std::size_t kLongestMessage = sizeof(WireHello);

using Id = std::array<std::uint8_t, kIdBytes>;

enum class Codec : std::uint32_t { kBf16 = 1, kQ8 = 2, kAdaptive = 3 };
enum class Choice : std::uint32_t { kPlain = 1, kNarrow = 2 };
enum class Why : std::uint32_t { kNotReady = 1, kOtherVersion = 2 };

// A Proposal says what a rank is ready for.
struct Proposal {
  std::uint64_t build = 0;  // of the library's file
  Codec codec = Codec::kBf16;
  std::uint32_t level = 0;
  std::uint32_t budget_mib = 0;  // memory that the codec may take on this rank's GPU, at least 1
  friend bool operator==(const Proposal&, const Proposal&) = default;
};
struct Greeting {
  std::uint32_t version = kVersion;
};
struct Hello {
  Id id{};  // of the communicator
  std::uint32_t ranks = 0;
  std::uint32_t rank = 0;
  Proposal proposal;
};
struct No {
  Id id{};
  std::uint32_t rank = 0;
  std::uint32_t why = 0;
};
struct Verdict {
  Choice choice = Choice::kPlain;
  std::uint32_t rank = 0;  // 0 in a plain verdict: for any rank
  // These have a meaning only if the choice is kNarrow.
  Codec codec = Codec::kBf16;
  std::uint32_t level = 0;
  std::uint32_t budget_mib = 0;
  Reason reason;  // why the choice is plain
};
// Bytes that no process of ours sends to this end.
struct Broken {
  Reason reason;
};
using ToCollector = std::variant<Hello, No, Broken>;
using ToVoter = std::variant<Greeting, Verdict, Broken>;

// Returns the name of a codec, or "?".
const char* Name(Codec codec);

// Returns how many bytes the message has that begins with `head`, or 0 and sets `reason`. No message is
// longer than kLongestMessage. REQUIRES: `head` has the first sizeof(WireHead) bytes of a message, or more.
std::size_t BytesOf(std::span<const std::byte> head, Reason* reason);

// These return the message that is in `bytes`, which rank 0 or another rank has received.
ToCollector ParseForCollector(std::span<const std::byte> bytes);
ToVoter ParseForVoter(std::span<const std::byte> bytes);

// These return a message in wire format.
WireGreeting MakeGreeting();
WireHello MakeHello(const Hello& hello);
WireNo MakeNo(const Hello& own, Why why);
WireVerdict MakeVerdict(const Verdict& verdict);

}  // namespace crossover::shrink::vote
