// Lists the reasons why the streams of this client wait for their gates alone, and not for signals first.
#pragma once

#include <cstdint>

namespace crossover::ipc {

enum class Reason : std::uint8_t {
  kNone,
  kNoMps,
  // The arbiter has no signals for this client.
  kNoOffer,
  kNoSignaller,
  kStill,
  kKindsMeet,
  kApart,
  kTurnstileRefused,
  kErased,
  kOtherState,
  // The memory that the arbiter offers is not what it must be, or the driver refuses it.
  kVersion,
  kArea,
  kDescriptor,
  kFunctions,
  kImport,
  kProperties,
  kGpu,
  kMapping,
  kMagic,
  kWordsVersion,
  kMemories,
  // The path was not proved.
  kCopies,
  kUnread,
  kUnproved,
  kProofRefused,
  kProofDiffers,
  // Signals were in use.
  kBeat,
  kDriver,
};
inline constexpr std::uint8_t kReasons = static_cast<std::uint8_t>(Reason::kDriver) + 1;

// A Refusal is a reason, and what was there in place of what is expected.
struct Refusal {
  Reason reason = Reason::kNone;
  std::uint64_t got = 0;  // a number that depends on the reason; 0 if the reason has none

  explicit operator bool() const { return reason != Reason::kNone; }
};

// Returns the reason that a state of enum crossover_offer_state stands for; kNone for the two states in which
// the arbiter has signals. A state that is not known is a reason, too.
Reason ReasonOf(std::uint32_t state);

// Writes the refusal to `text`, which has room for `room` bytes, as one line of the log without its end.
void Describe(const Refusal& refusal, char* text, unsigned room);

}  // namespace crossover::ipc
