// Runs a collective on the ring: carries out its plan and checks that the predecessor makes the same call.
#include "simgpu/nccl/arithmetic.h"
#include "simgpu/nccl/run.h"

namespace simgpu::nccl {

namespace {

class RingRun : public Run {
 public:
  RingRun(const Task& task, Network& network)
      : task_(task),
        network_(network),
        call_(*task.ring),
        element_(SizeOf(call_.type)),
        plan_(MakePlan(call_, network.rank(), network.ranks())) {
    SkipEmpty();
    network_.to_next().SendCall(task.ring_sequence, call_);
    if (network.fault().corrupt_byte == task.ring_sequence) network_.to_next().CorruptNext();
  }

  State Advance() override {
    const State received = Receive();  // first: it may free data to send; sending frees none
    if (received == State::kFailed) return received;
    Send();
    moved_ = received == State::kDone && !sending();
    return moved_ && ServedAt() <= MonotonicNow() ? State::kDone : State::kBusy;
  }

  bool sending() const override { return send_step_ < plan_.steps.size() || !network_.to_next().idle(); }

  std::vector<int> Readers() const override {
    const Inbound& in = network_.from_prev();
    const bool wants = (!checked_ || recv_step_ < plan_.steps.size()) && !in.holding();
    return wants ? std::vector<int>{in.channel().fd()} : std::vector<int>{};
  }

  Nanos WakeAt() const override {
    if (moved_) return ServedAt();
    return std::min(network_.to_next().WakeAt(), network_.from_prev().WakeAt());
  }

 private:
  // Returns when both links have served what was given to them.
  Nanos ServedAt() const { return std::max(network_.to_next().ServedAt(), network_.from_prev().ServedAt()); }

  int predecessor() const { return (network_.rank() + network_.ranks() - 1) % network_.ranks(); }

  void SkipEmpty() {
    while (send_step_ < plan_.steps.size() && sent_ == plan_.steps[send_step_].send.bytes) {
      ++send_step_;
      sent_ = 0;
    }
    while (recv_step_ < plan_.steps.size() && received_ == plan_.steps[recv_step_].recv.bytes) {
      ++recv_step_;
      received_ = 0;
    }
  }

  void Send() {
    Outbound& out = network_.to_next();
    out.Advance();
    while (send_step_ < plan_.steps.size() && !out.full()) {
      const Range range = plan_.steps[send_step_].send;
      const std::uint64_t bytes = std::min(out.PieceBytes(range.bytes, element_), range.bytes - sent_);
      if (sent_ + bytes > Sendable(plan_, send_step_, recv_step_, received_)) return;
      const PieceFrame piece{static_cast<std::uint32_t>(send_step_), static_cast<std::uint32_t>(bytes),
                             sent_};
      out.Push(task_.ring_sequence, piece, task_.hollow ? nullptr : task_.staging + range.offset + sent_);
      sent_ += bytes;
      SkipEmpty();
      out.Advance();
    }
  }

  // Receives what is there. Returns kDone once this rank has all its data.
  State Receive() {
    Inbound& in = network_.from_prev();
    while (!checked_ || recv_step_ < plan_.steps.size()) {
      const auto item = in.Next();
      if (!item) {
        return in.ended() ? FailEnded(network_, predecessor(), in) : State::kBusy;
      }
      const State state = item->kind == Kind::kCall ? Check(*item) : Take(*item);
      if (state == State::kFailed) return state;
    }
    return State::kDone;
  }

  State Check(const Inbound::Item& item) {
    if (checked_ || item.sequence != task_.ring_sequence) return FailGarbage(network_, predecessor());
    checked_ = true;
    if (item.call == call_) return State::kDone;
    return Fail(ncclInvalidUsage, "collective " + std::to_string(task_.ring_sequence) +
                                      " of the communicator differs: " + network_.Describe(predecessor()) +
                                      " called " + Describe(item.call) + ", " +
                                      network_.Describe(network_.rank()) + " called " + Describe(call_));
  }

  State Take(const Inbound::Item& item) {
    if (recv_step_ >= plan_.steps.size()) return FailGarbage(network_, predecessor());
    const Step& step = plan_.steps[recv_step_];
    const std::uint64_t bytes = item.piece.bytes;
    const bool expected = checked_ && item.sequence == task_.ring_sequence &&
                          (item.kind == Kind::kHollow) == task_.hollow && item.piece.offset == received_ &&
                          bytes <= step.recv.bytes - received_ && bytes % element_ == 0;
    if (!expected) return FailGarbage(network_, predecessor());
    if (!task_.hollow) Put(step, item.data);
    received_ += bytes;
    SkipEmpty();
    return State::kDone;
  }

  void Put(const Step& step, std::span<const std::byte> data) {
    std::byte* into = task_.staging + step.recv.offset + received_;
    const std::size_t count = data.size() / element_;
    if (step.fold) {
      Fold(into, data.data(), count, call_.type, call_.op);
      if (step.divide) Divide(into, count, call_.type, network_.ranks());
    } else {
      std::copy(data.begin(), data.end(), into);
    }
  }

  const Task& task_;
  Network& network_;
  const Call call_;
  const std::uint64_t element_;
  const Plan plan_;
  std::size_t send_step_ = 0;
  std::uint64_t sent_ = 0;  // bytes of this step that were given to the link
  std::size_t recv_step_ = 0;
  std::uint64_t received_ = 0;  // bytes of this step that were folded or copied
  bool moved_ = false;          // all data has come and all has left
  bool checked_ = false;        // the predecessor makes the same call
};

}  // namespace

std::unique_ptr<Run> StartRing(const Task& task, Network& network) {
  return std::make_unique<RingRun>(task, network);
}

}  // namespace simgpu::nccl
