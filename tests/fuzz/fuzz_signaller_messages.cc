// libs: crossover_signaller_core
// Parses any bytes as a message of the arbiter, with any number of descriptors. A Follow that is accepted has
// the descriptors and the area that it says, a proof stays in the memory, a reason is one printable line, and
// no other size is accepted.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <variant>

#include "deviceplugin/signaller/signaller_messages.h"
#include "tests/fuzz/bytes.h"
#include "tests/fuzz/require.h"
#include "turn/signal_memory.h"

namespace {

using crossover::fuzz::Require;
namespace signaller = crossover::signaller;

void RequirePrintable(const std::string& text) {
  for (const char c : text) Require(c >= ' ' && c <= '~');
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  crossover::fuzz::Bytes input(data, size);
  const std::size_t descriptors = input.NextByte() % 4;
  const std::size_t memory = std::size_t{input.NextByte()} << 12;
  const std::size_t head = size < 2 ? size : 2;
  const auto bytes = std::as_bytes(std::span(data + head, size - head));
  const signaller::Message message = signaller::Parse(bytes, descriptors, memory);
  if (const auto* follow = std::get_if<signaller::Follow>(&message)) {
    Require(bytes.size() == sizeof(crossover_follow));
    Require(descriptors == (follow->kept ? 2 : 1));
    Require(follow->area <= crossover::turn::AreasOf(memory) && (follow->kept || follow->area == 0));
  } else if (const auto* prove = std::get_if<signaller::Prove>(&message)) {
    Require(bytes.size() == sizeof(crossover_proof));
    Require(prove->area >= 1 && prove->area <= crossover::turn::AreasOf(memory));
    Require(prove->line < CROSSOVER_MAX_CLIENTS);
  } else if (std::holds_alternative<signaller::Rest>(message)) {
    Require(bytes.size() == sizeof(crossover_rest));
  } else if (const auto* refused = std::get_if<signaller::Refused>(&message)) {
    Require(bytes.size() == sizeof(crossover_refused));
    RequirePrintable(refused->reason);
  } else if (const auto* broken = std::get_if<signaller::Broken>(&message)) {
    Require(!broken->reason.empty());
    RequirePrintable(broken->reason);
  }
  return 0;
}
