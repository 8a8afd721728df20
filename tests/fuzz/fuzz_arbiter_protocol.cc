// libs: crossover_arbiter_core
// Parses what a client may send over the arbiter's socket. Whatever the bytes are, a message that is taken
// is one that a client could have sent properly.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/arbiter/liveness.h"

namespace {

using namespace crossover::arbiter;

crossover_hello Rebuild(const Hello& hello) {
  crossover_hello wire{};
  wire.header = {CROSSOVER_HELLO, sizeof(wire), CROSSOVER_PROTOCOL_VERSION, 0};
  std::memcpy(wire.gang, hello.gang.data(), hello.gang.size());
  std::memcpy(wire.gpu_uuid, hello.gpu_uuid.data(), hello.gpu_uuid.size());
  wire.gang_size = hello.gang_size;
  wire.rank = hello.rank;
  wire.pid = hello.pid;
  wire.transport = hello.transport;
  wire.priority = hello.priority;
  return wire;
}

void CheckHello(const Hello& hello) {
  // The gang may be empty: in a pod the daemon knows it.
  if ((!hello.gang.empty() && !ValidGangName(hello.gang)) || !ValidGpuUuid(hello.gpu_uuid)) __builtin_trap();
  const crossover_hello wire = Rebuild(hello);
  const Message again = Parse(std::as_bytes(std::span(&wire, 1)));
  const Hello* same = std::get_if<Hello>(&again);
  if (same == nullptr || same->gang != hello.gang || same->gpu_uuid != hello.gpu_uuid) __builtin_trap();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Message message = Parse(std::as_bytes(std::span(data, size)));
  if (const auto* hello = std::get_if<Hello>(&message)) CheckHello(*hello);
  if (const auto* profile = std::get_if<Profile>(&message)) {
    if (profile->transport > CROSSOVER_TRANSPORT_SIGNALLED_GATES) __builtin_trap();
  }
  if (const auto* calls = std::get_if<Calls>(&message)) {
    if (calls->total > CROSSOVER_CALLS_MAX || calls->calls.empty() ||
        calls->first + calls->calls.size() > calls->total)
      __builtin_trap();
    for (const crossover_call& call : calls->calls) {
      if (call.communicator == 0 || call.rank >= call.ranks) __builtin_trap();
      if (call.peer != CROSSOVER_NO_PEER && call.peer >= call.ranks) __builtin_trap();
    }
  }
  if (const auto* reductions = std::get_if<Reductions>(&message)) {
    if (size != sizeof *reductions || std::memcmp(data, reductions, size) != 0) __builtin_trap();
  }
  if (const auto* broken = std::get_if<Broken>(&message)) {
    const crossover_refused refused = MakeRefused(broken->reason);
    if (broken->reason.empty() || std::memchr(refused.reason, 0, sizeof(refused.reason)) == nullptr) {
      __builtin_trap();
    }
  }
  return 0;
}
