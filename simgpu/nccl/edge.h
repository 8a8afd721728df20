// Moves pieces of data between two ranks. The links of the machine decide their speed, and a channel
// carries the bytes.
//
// The sender gives a piece to its link and announces it at the same moment, so that the receiver's link
// serves it at the same time as the sender's. The bytes cross the socket when the sender's link has served
// them. A piece has arrived when its bytes are there and the receiver's link has served them too. Several
// pieces are given to a link ahead of time. They follow each other without a gap, however late this thread
// wakes up.
//
// A piece that the link serves within the time of a wake-up is not announced: its bytes go at once.
//
// A null link is infinitely fast. One thread.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "simgpu/machine/flow.h"
#include "simgpu/machine/report.h"
#include "simgpu/nccl/channel.h"
#include "simgpu/nccl/ring.h"

namespace simgpu::nccl {

// Returns when a link has served up to `mark`: the exact time if it has, or a forecast if it has not.
Nanos ServedBy(Flow* link, Mark mark);

// An Outbound sends pieces to one rank.
class Outbound {
 public:
  // `slowdown` multiplies the work that a piece is for the link; it serves the fault slow_link, and 1 is
  // normal.
  Outbound(Channel* channel, Flow* link, Reach reach, double slowdown)
      : channel_(channel), link_(link), announces_(reach == Reach::kOtherNode), slowdown_(slowdown) {}

  // Returns true if as many pieces wait at the link as should wait.
  bool full() const { return waiting_.size() >= kAhead; }
  bool idle() const { return waiting_.empty(); }

  // Returns how long a piece of a range of `range_bytes` should be, a multiple of `element`.
  std::uint64_t PieceBytes(std::uint64_t range_bytes, std::uint64_t element) const;

  void SendCall(std::uint32_t sequence, const Call& call) { channel_->Send(EncodeCall(sequence, call)); }
  // Gives a piece to the link. Null `data` makes it hollow. REQUIRES: `data` does not change until the piece
  // has left.
  void Push(std::uint32_t sequence, const PieceFrame& piece, const std::byte* data);
  // Sends the pieces that the link has served.
  void Advance();
  // Returns when Advance() has something to do again, or kNever if not before the next Push().
  Nanos WakeAt() const;
  // Returns when the link has served all that was pushed, which is a little after the last piece has left.
  // If it has served it, the time is in the past.
  Nanos ServedAt() const { return ServedBy(link_, last_); }

  // Flips one bit of the next piece that leaves and is not hollow.
  void CorruptNext() { corrupt_ = true; }
  const Channel& channel() const { return *channel_; }

 private:
  static constexpr std::size_t kAhead = constants::kPiecesAhead;
  struct Waiting {
    std::uint32_t sequence;
    PieceFrame piece;
    const std::byte* data;
    Mark mark;
  };
  void Leave(const Waiting& waiting);

  Channel* channel_;
  Flow* link_;
  bool announces_;
  double slowdown_;
  bool corrupt_ = false;
  Mark last_ = 0;  // mark of all that was pushed
  std::deque<Waiting> waiting_;
};

// An Inbound receives pieces from one rank.
class Inbound {
 public:
  Inbound(Channel* channel, Flow* link, Reach reach) : channel_(channel), link_(link), reach_(reach) {}

  struct Item {
    Kind kind;  // kCall, kPiece or kHollow
    std::uint32_t sequence;
    Call call;
    PieceFrame piece;
    std::span<const std::byte> data;  // of kPiece; valid until the next call of Next()
  };
  // Returns what has arrived next, in order. If it returns no value, look again at WakeAt() or when the
  // channel is readable.
  std::optional<Item> Next();
  // Returns when the link has served the piece that is held, or kNever if none is held.
  Nanos WakeAt() const;
  // Returns when the link has served all that has arrived, as Outbound::ServedAt() does.
  Nanos ServedAt() const { return ServedBy(link_, last_); }

  // Returns true while a piece waits for the link and not for the channel.
  bool holding() const { return held_.has_value(); }
  // Returns true if no item will come any more.
  bool ended() const { return !held_ && (broken_ || news_ || channel_->closed()); }
  // Returns true if the peer has broken the protocol.
  bool broken() const { return broken_; }
  // Returns the error of the peer if it said that the communicator has failed.
  const std::optional<ErrorFrame>& news() const { return news_; }
  const Channel& channel() const { return *channel_; }

 private:
  static bool Decode(std::span<const std::byte> payload, Item* item);
  std::optional<Item> Release();
  void Announced(std::uint32_t bytes) { marks_.push_back(link_->Extend(bytes)); }

  Channel* channel_;
  Flow* link_;
  Reach reach_;
  bool broken_ = false;
  std::optional<ErrorFrame> news_;
  Mark last_ = 0;           // mark of the piece that arrived last
  std::deque<Mark> marks_;  // marks of announced pieces, in the order in which the pieces will come
  // A piece is held here while its bytes are here but the link has not served them.
  std::optional<Item> held_;
  std::vector<std::byte> held_data_;
};

}  // namespace simgpu::nccl
