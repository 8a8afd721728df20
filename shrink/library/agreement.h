// Holds the votes of this process: the ports that are open for IDs made here, and whether a vote was refused.
// Thread-safe.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "common/base/mutex.h"
#include "shrink/meeting/limits.h"
#include "shrink/meeting/sockets.h"

namespace crossover::shrink::library {

// A Meeting is where a rank will vote, as it is known before the communicator is made.
struct Meeting {
  vote::Start start = vote::Start::kPlain;
  meeting::UniqueFd listener;  // of rank 0, if it votes
  meeting::Place place;        // of another rank, if it votes
  vote::Reason reason;         // why it runs plain; empty where that is no news
};

class Agreement {
 public:
  // Only tests have other limits, or a watcher. `build` returns a number that is equal in equal files.
  constexpr Agreement(const meeting::Limits& limits, const meeting::Watcher& watcher,
                      std::uint64_t (*build)())
      : limits_(limits), watcher_(watcher), build_(build) {}

  // Opens a port for an ID that NCCL has made here, and writes it into the tail. Does neither where a vote
  // was refused. Where it cannot, the ID stays as it is and `reason` says why.
  void Offer(vote::Id* id, vote::Reason* reason);

  // Returns where a rank votes. Takes the port of the ID, so that it is closed where this rank does not vote.
  Meeting Prepare(vote::Origin origin, const vote::Id& id, std::uint32_t ranks, std::uint32_t rank);

  // Votes, behind NCCL's own meeting of all ranks. A rank that is not `ready` refuses. REQUIRES: the
  // meeting's start is kVotes.
  meeting::Outcome Vote(Meeting meeting, vote::Hello hello, bool ready);

 private:
  struct Port {
    vote::Id id{};
    int listener = -1;  // -1: the entry is free
  };
  meeting::UniqueFd Take(const vote::Id& id);

  const meeting::Limits limits_;
  const meeting::Watcher watcher_;
  std::uint64_t (*const build_)();
  std::atomic<vote::GangMemory> memory_{vote::GangMemory::kVotes};
  base::Mutex mutex_;
  std::array<Port, 16> ports_{};
  std::size_t next_ = 0;  // the entry that the next port takes; the oldest port is closed
};

}  // namespace crossover::shrink::library
