// Sums up what a job calls in one iteration, for the arbiter: which function, on which communicator, with
// which peer, and how many bytes.
//
// The sums are those of whole periods. They become a report once a period has repeated kSure times, and
// again each time that the number of periods has doubled, if they have changed since. Does not allocate. Not
// thread-safe.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "proto/arbiter_protocol.h"

namespace crossover::phase {

// A Call is what one call of NCCL moves.
struct Call {
  std::uint32_t function = 0;  // enum crossover_function; 0: not known
  std::uint32_t peer = CROSSOVER_NO_PEER;
  std::uint64_t bytes = 0;
};

// A Group is the communicator of a call.
struct Group {
  std::uint64_t id = 0;  // 0: not known; its calls are left out
  std::uint32_t ranks = 0;
  std::uint32_t rank = 0;
};

class Calls {
 public:
  static constexpr std::size_t kMost = CROSSOVER_CALLS_MAX;
  static constexpr std::uint64_t kSure = 8;  // periods
  static constexpr double kNoise = 0.05;     // of a sum; a smaller difference is no change

  // Counts a call of a job whose calls repeat by `period`. Begins anew if that is another number than in the
  // last call. REQUIRES: `period` is not 0.
  void Count(const Group& group, const Call& call, std::uint32_t period);
  // Begins anew, because the calls do not repeat. The last report stays.
  void Forget() { counted_.Clear(); }

  // Begins to send the last report anew, to another arbiter.
  void Resend() { sent_ = 0; }
  // Fills in the next message of the report, without its header. Returns false if the report is sent.
  bool NextMessage(crossover_calls* message);

 private:
  // A Table has one entry for each communicator, function and peer.
  struct Table {
    std::array<crossover_call, kMost> calls{};
    std::size_t size = 0;
    std::uint64_t counted = 0;  // calls, also those that are left out
    bool full = false;          // a call had no room: the sums are not whole

    void Clear() { size = 0, counted = 0, full = false; }
  };

  static crossover_call* Entry(Table* table, const Group& group, const Call& call);
  void Report(std::uint64_t periods);
  bool HasChanged(const Table& report) const;

  Table counted_;
  std::uint32_t period_ = 0;  // of `counted_`
  Table report_;
  std::size_t sent_ = 0;  // calls of the report that were sent
};

}  // namespace crossover::phase
