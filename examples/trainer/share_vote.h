// Lets all ranks of a job change to new shares of the batch at the same iteration.
//
// Each rank reads its file of weights, which may change at any time. Before each iteration the ranks find by
// an all-reduce whether all of them have read the same weights. It runs beside the forward pass. Its answer
// is read some iterations later, so that the host waits for nothing:
//
//   iteration        i            i + 1     ...     i + kBehind
//   weights read     digest ----- all-reduce: the same on all ranks? ----- change
//
// Every rank reads the answer of the same vote before the same iteration. It is not thread-safe. Calls throw
// Failure.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <string>

#include "examples/trainer/communicator.h"
#include "examples/trainer/gpu.h"
#include "examples/trainer/options.h"
#include "examples/trainer/shares.h"

namespace crossover::trainer {

class ShareVote {
 public:
  static constexpr std::uint64_t kBehind = 4;  // iterations

  // REQUIRES: the arguments outlive it. `file` need not exist.
  ShareVote(const std::string& file, const Rank& rank, Gpu& gpu, Communicator& communicator);

  // Reads the file, and queues the vote on the communication stream. The compute stream must wait for a later
  // collective of that stream before End().
  void Begin(std::uint64_t iteration);
  // Queues the copy of its answer on the compute stream.
  void End(std::uint64_t iteration);
  // Returns the weights to which all ranks change before `iteration`, or null.
  const Weights* Agreed(std::uint64_t iteration);

 private:
  struct Slot {
    float* sent = nullptr;      // pinned: the digest, and its negative
    float* voted = nullptr;     // on the GPU: their minima over the ranks
    float* received = nullptr;  // pinned
    CUevent ready = nullptr;
    CUevent read = nullptr;
  };

  void ReadFile();

  const std::string file_;
  const Rank& rank_;
  Gpu& gpu_;
  Communicator& communicator_;
  std::array<Slot, kBehind> slots_;
  std::string text_;           // the file's, as it was read last
  std::deque<Weights> known_;  // those that it had, the last one in front: more than votes are under way
  std::uint32_t used_ = 0;     // the digest of those in use; 0: none
  bool complained_ = false;
};

}  // namespace crossover::trainer
