// Runs the Sends and Recvs of one group, all at the same time.
#include <algorithm>
#include <map>

#include "simgpu/nccl/run.h"

namespace simgpu::nccl {

namespace {

// A Lane is what goes one way between this rank and one peer, in the order of the calls.
struct Lane {
  std::vector<Transfer> transfers;
  std::size_t current = 0;
  std::uint64_t moved = 0;  // bytes of the current transfer
  std::uint32_t sequence = 0;
  bool called = false;  // the call of the current transfer was sent or received

  bool finished() const { return current == transfers.size(); }
  const Transfer& transfer() const { return transfers[current]; }
  void Begin(std::uint32_t number) {
    sequence = number;
    called = true;
  }
  // Counts `bytes` as moved. Goes on to the next transfer when the current one is complete.
  void Moved(std::uint64_t bytes) {
    moved += bytes;
    if (moved < transfer().bytes) return;
    ++current;
    moved = 0;
    called = false;
  }
};

class TransferRun : public Run {
 public:
  TransferRun(const Task& task, Network& network) : network_(network) {
    for (const Transfer& transfer : task.transfers) {
      auto& lanes = transfer.call.function == Function::kSend ? sends_ : recvs_;
      lanes[transfer.call.root].transfers.push_back(transfer);
    }
  }

  State Advance() override {
    if (const State state = CopyToSelf(); state == State::kFailed) return state;
    bool busy = false;
    for (auto& [peer, lane] : sends_) {
      const State state = Send(peer, lane);
      if (state == State::kFailed) return state;
      busy = busy || state == State::kBusy;
    }
    for (auto& [peer, lane] : recvs_) {
      const State state = Receive(peer, lane);
      if (state == State::kFailed) return state;
      busy = busy || state == State::kBusy;
    }
    moved_ = !busy;
    return moved_ && ServedAt() <= MonotonicNow() ? State::kDone : State::kBusy;
  }

  bool sending() const override { return false; }

  std::vector<int> Readers() const override {
    std::vector<int> fds;
    for (const auto& [peer, lane] : recvs_) {
      const Inbound* in = network_.From(peer);
      if (in != nullptr && !lane.finished() && !in->holding()) fds.push_back(in->channel().fd());
    }
    return fds;
  }

  Nanos WakeAt() const override {
    if (moved_) return ServedAt();
    Nanos wake = kNever;
    for (const auto& [peer, out] : outs_) wake = std::min(wake, out->WakeAt());
    for (const auto& [peer, lane] : recvs_) {
      if (const Inbound* in = network_.From(peer)) wake = std::min(wake, in->WakeAt());
    }
    return wake;
  }

 private:
  // Returns when all links have served what was given to them.
  Nanos ServedAt() const {
    Nanos served = 0;
    for (const auto& [peer, out] : outs_) served = std::max(served, out->ServedAt());
    for (const auto& [peer, lane] : recvs_) {
      if (const Inbound* in = network_.From(peer)) served = std::max(served, in->ServedAt());
    }
    return served;
  }

  // Copies what this rank sends to itself. Such data does not travel.
  State CopyToSelf() {
    const auto from = sends_.extract(network_.rank());
    const auto to = recvs_.extract(network_.rank());
    const std::size_t sent = from ? from.mapped().transfers.size() : 0;
    if (sent != (to ? to.mapped().transfers.size() : 0)) {
      return Fail(ncclInvalidUsage,
                  "a group sends to its own rank what it does not receive, or the other way round");
    }
    for (std::size_t i = 0; i < sent; ++i) {
      const Transfer& source = from.mapped().transfers[i];
      const Transfer& target = to.mapped().transfers[i];
      if (source.bytes != target.bytes) return Differs(network_.rank(), source.call, target.call);
      if (!source.hollow) std::copy_n(source.data, source.bytes, target.data);
    }
    return State::kDone;
  }

  State Send(int peer, Lane& lane) {
    Outbound*& out = outs_[peer];
    std::string error;
    if (out == nullptr) out = network_.To(peer, &error);
    if (out == nullptr) {
      outs_.erase(peer);
      return Fail(ncclRemoteError, network_.Describe(peer) + ": " + error);
    }
    out->Advance();
    while (!lane.finished() && !out->full()) {
      const Transfer& transfer = lane.transfer();
      const std::uint64_t element = SizeOf(transfer.call.type);
      if (!lane.called) {
        if (!out->idle()) break;  // a call goes at once, and must not pass data of the one before
        lane.Begin(network_.NextTo(peer));
        out->SendCall(lane.sequence, transfer.call);
      }
      const auto bytes = std::min(out->PieceBytes(transfer.bytes, element), transfer.bytes - lane.moved);
      out->Push(lane.sequence, {0, static_cast<std::uint32_t>(bytes), lane.moved},
                transfer.hollow ? nullptr : transfer.data + lane.moved);
      lane.Moved(bytes);
      out->Advance();
    }
    return lane.finished() && out->idle() ? State::kDone : State::kBusy;
  }

  State Receive(int peer, Lane& lane) {
    Inbound* in = network_.From(peer);
    if (in == nullptr) return lane.finished() ? State::kDone : State::kBusy;
    while (!lane.finished()) {
      const auto item = in->Next();
      if (!item) return in->ended() ? FailEnded(network_, peer, *in) : State::kBusy;
      if (item->kind == Kind::kCall) {
        if (lane.called) return FailGarbage(network_, peer);
        lane.Begin(network_.NextFrom(peer));
        const Call& mine = lane.transfer().call;
        if (item->sequence != lane.sequence) return FailGarbage(network_, peer);
        if (item->call.count != mine.count || item->call.type != mine.type)
          return Differs(peer, item->call, mine);
        continue;
      }
      const bool expected = lane.called && item->sequence == lane.sequence &&
                            (item->kind == Kind::kHollow) == lane.transfer().hollow &&
                            item->piece.offset == lane.moved &&
                            item->piece.bytes <= lane.transfer().bytes - lane.moved;
      if (!expected) return FailGarbage(network_, peer);
      if (!lane.transfer().hollow)
        std::copy(item->data.begin(), item->data.end(), lane.transfer().data + lane.moved);
      lane.Moved(item->piece.bytes);
    }
    return State::kDone;
  }

  State Differs(int peer, const Call& theirs, const Call& mine) {
    return Fail(ncclInvalidUsage, "point to point differs: " + network_.Describe(peer) + " called " +
                                      Describe(theirs) + ", " + network_.Describe(network_.rank()) +
                                      " called " + Describe(mine));
  }

  Network& network_;
  std::map<int, Lane> sends_;
  std::map<int, Lane> recvs_;
  std::map<int, Outbound*> outs_;
  bool moved_ = false;  // all data has come and all has left
};

}  // namespace

std::unique_ptr<Run> StartTransfers(const Task& task, Network& network) {
  return std::make_unique<TransferRun>(task, network);
}

}  // namespace simgpu::nccl
