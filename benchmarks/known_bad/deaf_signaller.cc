// In this fault a signaller follows no page. It shows its beat and answers proofs, and writes no signal.
#include <cstdint>
#include <string>

#include "deviceplugin/signaller/signal_memory.h"

using crossover::signaller::SignalMemory;

extern "C" bool
__wrap__ZN9crossover9signaller12SignalMemory9WriteComeEjjPNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    SignalMemory*, std::uint32_t, crossover::turn::SlotIndex, std::string*) {
  return true;
}
