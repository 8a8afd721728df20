// Defines the reasons for which the node daemon gives out no slot of a GPU, or lets no jobs share it. The
// daemon publishes the name of the reason (status.gpus[].reason of a GPUNode) beside a text for people. Names
// stay as they are, because programs of other versions read them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace crossover::base {

enum class Withheld : std::uint8_t {
  kNotKnownYet,        // the daemon has just started and does not know yet who else uses it
  kNoAnswer,           // the driver does not list it any more
  kWantsReset,         // the driver asks for a reset of it
  kXid,                // the GPU has reported an error that blames the GPU
  kSplit,              // the GPU is split into MIG instances
  kOtherPlugin,        // another device plugin gives the GPU out, or has given it to a pod
  kDraDriver,          // a driver of dynamic resource allocation gives it out, or has given it to a pod
  kForeignProcess,     // a process without a slot uses it
  kMaintenance,        // the node is in maintenance
  kNoCdi,              // CDI devices do not reach containers
  kTooManyHeld,        // pods hold more slots than it has now
  kMpsNotKnownYet,     // it is not known yet whether MPS takes new clients
  kMpsGone,            // the control daemon of MPS does not run
  kMpsTakesNone,       // MPS runs and takes no new clients
  kStartedWithoutMps,  // a pod is on it that is no client of MPS, and new pods would be
  kStartedUnderMps,    // a pod is on it that is a client of MPS, and new pods would not be
  kMemoryUnknown,      // its memory is not known: its only slot is given out, and no jobs share it
};

struct WithheldName {
  Withheld reason;
  std::string_view name;
};
inline constexpr std::array kWithheldNames = {
    WithheldName{Withheld::kNotKnownYet, "NotKnownYet"},
    WithheldName{Withheld::kNoAnswer, "NoAnswer"},
    WithheldName{Withheld::kWantsReset, "WantsReset"},
    WithheldName{Withheld::kXid, "Xid"},
    WithheldName{Withheld::kSplit, "Split"},
    WithheldName{Withheld::kOtherPlugin, "OtherPlugin"},
    WithheldName{Withheld::kDraDriver, "DraDriver"},
    WithheldName{Withheld::kForeignProcess, "ForeignProcess"},
    WithheldName{Withheld::kMaintenance, "Maintenance"},
    WithheldName{Withheld::kNoCdi, "NoCdi"},
    WithheldName{Withheld::kTooManyHeld, "TooManyHeld"},
    WithheldName{Withheld::kMpsNotKnownYet, "MpsNotKnownYet"},
    WithheldName{Withheld::kMpsGone, "MpsGone"},
    WithheldName{Withheld::kMpsTakesNone, "MpsTakesNone"},
    WithheldName{Withheld::kStartedWithoutMps, "StartedWithoutMps"},
    WithheldName{Withheld::kStartedUnderMps, "StartedUnderMps"},
    WithheldName{Withheld::kMemoryUnknown, "MemoryUnknown"},
};

// Returns the name of a reason, as the daemon publishes it.
constexpr std::string_view NameOf(Withheld reason) {
  for (const WithheldName& row : kWithheldNames) {
    if (row.reason == reason) return row.name;
  }
  return "";
}

// Returns the reason of that name. Returns nullopt if this version does not know it.
constexpr std::optional<Withheld> WithheldNamed(std::string_view name) {
  for (const WithheldName& row : kWithheldNames) {
    if (row.name == name) return row.reason;
  }
  return std::nullopt;
}

// Holds a reason, and the text that says it of one GPU or of all GPUs of a node.
struct WithheldReason {
  Withheld reason = Withheld::kNotKnownYet;
  std::string text;

  friend bool operator==(const WithheldReason&, const WithheldReason&) = default;
};

// Says why no jobs share a GPU of unknown memory.
inline constexpr std::string_view kMemoryUnknownText =
    "memory: expected a size from the driver or node.gpu_memory, got neither: it has one slot, and no jobs "
    "share it";

// Returns the text, or an empty string if there is no reason.
inline std::string TextOf(const std::optional<WithheldReason>& why) { return why ? why->text : ""; }

}  // namespace crossover::base
