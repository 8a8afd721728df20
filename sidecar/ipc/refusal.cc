#include "sidecar/ipc/refusal.h"

#include <stdio.h>

#include "proto/signaller_protocol.h"

namespace crossover::ipc {
namespace {

struct Words {
  const char* expected;
  const char* got;
  bool numbered = false;  // the number of the refusal stands behind `got`
};

// The table is in the order of Reason.
constexpr Words kWords[] = {
    {"a reason", "none"},
    {"MPS", "time slices"},
    {"an arbiter that offers signals", "none"},
    {"a signaller that follows the turnstile", "none"},
    {"a signaller whose beat changes",
     "a beat that stands still, as the arbiter reports (see the log of the pod crossover-signaller)"},
    {"clients that all have signals", "another client of this GPU without them"},
    {"the turnstile of this GPU", "a turnstile for this client alone"},
    {"a signaller that takes the turnstile", "one that refuses it"},
    {"signals that stay as they are written", "signals that are erased again and again"},
    {"a state of signals that is known", "state", true},
    {"an offer of version 1", "version", true},
    {"an area that lies inside the offered memory", "area number", true},
    {"a descriptor of the memory beside the offer", "none"},
    {"a driver that imports memory", "one that lacks a function for it"},
    {"memory that the driver imports", "the error of cuMemImportFromShareableHandle", true},
    {"memory that the driver knows", "the error of cuMemGetAllocationPropertiesFromHandle", true},
    {"memory of this GPU", "memory of device", true},
    {"memory of the offered size that can be mapped", "the driver's error", true},
    {"memory that begins with the magic number of signals", "memory that begins with", true},
    {"signals of version 1 in the memory", "version", true},
    {"memory that stays the same", "another one; number of memories in use before it:", true},
    {"a stream for copies", "the driver's error", true},
    {"a copy that ends well within 60 s", "one that failed or has not ended"},
    {"a signaller that proves the path within 2 s", "no answer"},
    {"a signaller that writes the number it is asked for", "one that has gone, or whose driver refuses"},
    {"the number that the signaller was asked to write", "", true},
    {"a signaller whose beat changes within 200 ms", "a beat that stands still"},
    {"a driver that takes operations on signals", "one that refuses them"},
};
static_assert(sizeof kWords / sizeof kWords[0] == kReasons, "each reason has its words");

}  // namespace

Reason ReasonOf(std::uint32_t state) {
  switch (state) {
    case CROSSOVER_OFFER_GIVEN:
    case CROSSOVER_OFFER_ASK:
      return Reason::kNone;
    case CROSSOVER_OFFER_NO_SIGNALLER:
      return Reason::kNoSignaller;
    case CROSSOVER_OFFER_STILL:
      return Reason::kStill;
    case CROSSOVER_OFFER_KINDS_MEET:
      return Reason::kKindsMeet;
    case CROSSOVER_OFFER_APART:
      return Reason::kApart;
    case CROSSOVER_OFFER_REFUSED:
      return Reason::kTurnstileRefused;
    case CROSSOVER_OFFER_ERASED:
      return Reason::kErased;
    default:
      return Reason::kOtherState;
  }
}

void Describe(const Refusal& refusal, char* text, unsigned room) {
  const Words& words = kWords[static_cast<std::uint8_t>(refusal.reason)];
  char number[24] = "";
  if (words.numbered) {
    snprintf(number, sizeof number, "%s%llu", words.got[0] == '\0' ? "" : " ",
             static_cast<unsigned long long>(refusal.got));
  }
  snprintf(text, room, "signals: expected %s, got %s%s; streams wait at the turnstile alone", words.expected,
           words.got, number);
}

}  // namespace crossover::ipc
