// libs: crossover::gang
// Reads annotations by which one leader tells the next what it has decided. What is read is written as the
// same.
#include <cstdint>
#include <string>

#include "extender/gang/made_room.h"
#include "extender/gang/reservation.h"
#include "tests/fuzz/require.h"

namespace extender = crossover::extender;
using crossover::fuzz::Require;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto reservation = extender::ReadReservation(text)) {
    Require(!reservation->plan.empty() && !reservation->seat.node.empty());
    const auto again = extender::ReadReservation(extender::WriteReservation(*reservation));
    Require(again.has_value());
    Require(again->plan == reservation->plan && again->seat == reservation->seat);
    Require(again->until_s == reservation->until_s && again->again == reservation->again);
    Require(again->size == reservation->size && again->claims == reservation->claims);
    Require(again->left == reservation->left);
  }
  if (const auto made = extender::ReadMadeRoom(text)) {
    const auto again = extender::ReadMadeRoom(extender::WriteMadeRoom(*made));
    Require(again && again->at_s == made->at_s && again->since_s == made->since_s);
  }
  return 0;
}
