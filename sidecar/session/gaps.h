// Finds out whether turns end at gaps. They do in a job whose collectives the library does not see, because
// its gradients go over the host's network, or because it has no collectives.
//
// No call tells where the compute of such a job ends. But while its host waits for gradients, it has nothing
// on the GPU. Such a gap ends a turn, as an input stall does in other jobs, and the next launch begins a
// turn. Each rank decides this alone, from its own gaps. That is safe: a collective waits for other ranks,
// but nothing inside such a turn does, so the turn ends whichever ranks have turns.
#pragma once

#include <cstdint>

namespace crossover::session {

// Gaps counts the launches and the turns of such a job.
class Gaps {
 public:
  constexpr Gaps() = default;

  // This many launches without a collective make the process count as such a job. Without a communicator,
  // they are enough to show which streams compute. With one, they are more than an evaluation has.
  static constexpr std::uint32_t kWithoutCommunicator = 1024;
  static constexpr std::uint32_t kWithCommunicator = 65536;
  // After a stream was created, this many launches are searched for new streams that compute.
  static constexpr std::uint32_t kScan = 512;

  // Sets whether a communicator of several ranks is known in this process.
  void set_communicator(bool known) { communicator_ = known; }

  // Counts a launch while the session learns which streams compute. Returns true if turns end at gaps from
  // this launch on.
  bool OnLaunch() {
    if (by_gaps_) {
      if (scan_ > 0) --scan_;
      return false;
    }
    if (refused_ || ++launches_ < (communicator_ ? kWithCommunicator : kWithoutCommunicator)) return false;
    by_gaps_ = true;
    return true;
  }
  // Records that a stream was created that may compute.
  void OnStream() { scan_ = kScan; }
  void OnCollective() { Forget(); }
  void OnTurn() { ++turns_; }

  // Stops ending turns at gaps, because the arbiter thread cannot ask the driver whether the launched work
  // has ended. The library only watches such a job.
  void Refuse() {
    refused_ = true;
    by_gaps_ = false;
  }

  // Forgets everything but whether there is a communicator.
  void Forget() {
    launches_ = scan_ = turns_ = 0;
    by_gaps_ = refused_ = false;
  }

  bool by_gaps() const { return by_gaps_; }
  bool refused() const { return refused_; }
  bool scanning() const { return by_gaps_ && scan_ > 0; }
  // Returns whether only the arbiter thread reads what the arbiter asks, since no collective does.
  bool silent() const { return !communicator_ || by_gaps_; }
  std::uint32_t turns() const { return turns_; }

 private:
  std::uint32_t launches_ = 0;  // launches since the last collective
  std::uint32_t scan_ = 0;      // launches left in which new streams are looked for
  std::uint32_t turns_ = 0;     // turns begun
  bool communicator_ = true;
  bool by_gaps_ = false;
  bool refused_ = false;
};

}  // namespace crossover::session
