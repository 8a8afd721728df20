// Pieces of data on their way between two ranks: shaped by the links of the machine, carried by a channel.
//
// The sender gives a piece to its link and announces it at the same moment, so that the receiver's link
// serves it at the same time as the sender's; the bytes themselves cross the socket when the sender's link
// has served them. A piece has arrived when its bytes are there and the receiver's link has served them too.
// Several pieces are given to a link ahead of time: they follow each other without a gap, however late this
// thread wakes up.
//
// A piece that the link serves within a wake-up's time is not announced: its bytes go at once.
//
// A null link is infinitely fast. One thread.
#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "simgpu/machine/flow.h"
#include "simgpu/nccl/channel.h"
#include "simgpu/nccl/ring.h"

namespace simgpu::nccl {

// When a link has served up to `mark`: exactly where it has, as foreseen where it has not.
Nanos ServedBy(Flow* link, Mark mark);

class Outbound {
 public:
  // `slowdown` multiplies the work a piece is for the link (a fault knob; 1 is the truth).
  Outbound(Channel* channel, Flow* link, bool announces, double slowdown)
      : channel_(channel), link_(link), announces_(announces), slowdown_(slowdown) {}

  // As many pieces as should wait at the link are waiting.
  bool full() const { return waiting_.size() >= kAhead; }
  bool idle() const { return waiting_.empty(); }

  // How long a piece of `range` should be: a multiple of `element`.
  std::uint64_t PieceBytes(std::uint64_t range_bytes, std::uint64_t element) const;

  void SendCall(std::uint32_t sequence, const Call& call) { channel_->Send(EncodeCall(sequence, call)); }
  // `data` must stay as it is until the piece has left.
  void Push(std::uint32_t sequence, const PieceFrame& piece, const std::byte* data);
  // Lets the pieces go that the link has served.
  void Advance();
  // When Advance() has something to do again; kNever when not before Push().
  Nanos WakeAt() const;
  // When the link has served all that was pushed: a piece leaves a little earlier. A time that has passed
  // where it has.
  Nanos ServedAt() const { return ServedBy(link_, last_); }

  // The next piece to leave has one bit flipped.
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
  Mark last_ = 0;  // of all that was pushed
  std::deque<Waiting> waiting_;
};

class Inbound {
 public:
  Inbound(Channel* channel, Flow* link) : channel_(channel), link_(link) {}

  struct Item {
    Kind kind;  // kCall or kPiece
    std::uint32_t sequence;
    Call call;
    PieceFrame piece;
    std::span<const std::byte> data;  // valid until the next call of Next()
  };
  // What has arrived next, in order. Nothing: look again at WakeAt() or when the channel is readable.
  std::optional<Item> Next();
  Nanos WakeAt() const;
  // When the link has served all that has arrived, as Outbound::ServedAt().
  Nanos ServedAt() const { return ServedBy(link_, last_); }

  // Waits for the link, not for the channel.
  bool holding() const { return held_.has_value(); }
  // No item will come any more.
  bool ended() const { return !held_ && (broken_ || news_ || channel_->closed()); }
  // The peer has broken the protocol.
  bool broken() const { return broken_; }
  // The peer has said that the communicator has failed.
  const std::optional<ErrorFrame>& news() const { return news_; }
  const Channel& channel() const { return *channel_; }

 private:
  static bool Decode(std::span<const std::byte> payload, Item* item);
  std::optional<Item> Release();
  void Announced(std::uint32_t bytes) { marks_.push_back(link_->Extend(bytes)); }

  Channel* channel_;
  Flow* link_;
  bool broken_ = false;
  std::optional<ErrorFrame> news_;
  Mark last_ = 0;           // of the piece that arrived last
  std::deque<Mark> marks_;  // of announced pieces, in the order in which they will come
  // A piece whose bytes are here before the link has served them.
  std::optional<Item> held_;
  std::vector<std::byte> held_data_;
};

}  // namespace simgpu::nccl
