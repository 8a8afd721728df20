// Turns of a job whose collectives nobody sees: gradients that go over the host's network, or none at all.
//
// No call tells where its compute ends. But a host that waits for its gradients has nothing on the GPU, and
// such a gap ends a turn as an input stall does in other jobs; the next launch begins one. Each rank decides
// for itself, from its own gaps: unlike a collective, nothing in such a turn waits for another rank, so that
// it ends whatever turns the others have.
//
// A job is taken for one of these once it has launched much without a collective; the first collective ends
// it. Pure; not thread-safe.
#pragma once

#include <cstdint>

namespace crossover::session {

class Gaps {
 public:
  constexpr Gaps() = default;

  // Launches without a collective until this process is taken for such a job: where no communicator is known,
  // as many as show which streams compute; else more than an evaluation has.
  static constexpr std::uint32_t kWithoutCommunicator = 1024;
  static constexpr std::uint32_t kWithCommunicator = 65536;
  // In which streams that were created since are looked for.
  static constexpr std::uint32_t kScan = 512;

  // Whether a communicator of several ranks is known in this process.
  void set_communicator(bool known) { communicator_ = known; }

  // A launch while streams are learned. True: from here on turns end at gaps.
  bool OnLaunch() {
    if (by_gaps_) {
      if (scan_ > 0) --scan_;
      return false;
    }
    if (refused_ || ++launches_ < (communicator_ ? kWithCommunicator : kWithoutCommunicator)) return false;
    by_gaps_ = true;
    return true;
  }
  // A stream that may compute was created.
  void OnStream() { scan_ = kScan; }
  void OnCollective() { Forget(); }
  void OnTurn() { ++turns_; }

  // What is launched cannot be asked whether it has ended: such a job is watched.
  void Refuse() {
    refused_ = true;
    by_gaps_ = false;
  }

  // Everything but whether there is a communicator.
  void Forget() {
    launches_ = scan_ = turns_ = 0;
    by_gaps_ = refused_ = false;
  }

  bool by_gaps() const { return by_gaps_; }
  bool refused() const { return refused_; }
  bool scanning() const { return by_gaps_ && scan_ > 0; }
  // Whether nobody but the helper reads what the arbiter asks.
  bool silent() const { return !communicator_ || by_gaps_; }
  std::uint32_t turns() const { return turns_; }

 private:
  std::uint32_t launches_ = 0;  // since the last collective
  std::uint32_t scan_ = 0;      // launches in which new streams are looked for yet
  std::uint32_t turns_ = 0;     // begun
  bool communicator_ = true;
  bool by_gaps_ = false;
  bool refused_ = false;
};

}  // namespace crossover::session
