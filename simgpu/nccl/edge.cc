#include "simgpu/nccl/edge.h"

#include <algorithm>

namespace simgpu::nccl {

namespace {

// These decide how a range is cut into pieces. A piece should keep the link busy for about kPieceSeconds,
// because every piece costs the machine some wake-ups. A range has at least kLeastPieces pieces, so that
// one travels while the receiver waits for the other. A range that is shorter than kWholeBelow of a piece
// stays whole, because a wake-up costs more.
using constants::kLeastPieces;
using constants::kMostPieceBytes;
using constants::kMostPieces;
using constants::kPieceSeconds;
using constants::kWholeBelow;
// The bytes that a link serves within this time count as served already. It is about the time of a wake-up,
// so no thread sleeps for less. The receiver's link starts late by the travel time of the announcement, and
// costs no wake-up of its own. The link still serves one piece after the other, so the time never adds up. A
// collective is over when the links have served all of it, so no collective is faster than its links.
constexpr Nanos kTolerance = constants::kLinkTolerance;

bool IsDue(Nanos due) { return due != kNever && due <= MonotonicNow() + kTolerance; }
Nanos Early(Nanos due) { return due == kNever ? kNever : due - kTolerance; }

}  // namespace

Nanos ServedBy(Flow* link, Mark mark) {
  if (link == nullptr) return 0;
  const Nanos reached = link->ReachedAt(mark);
  return reached != kNever ? reached : link->Forecast(mark);
}

std::uint64_t Outbound::PieceBytes(std::uint64_t range_bytes, std::uint64_t element) const {
  std::uint64_t pieces = 1;
  if (link_ != nullptr) {
    const double ideal = static_cast<double>(range_bytes) / (link_->demand() * kPieceSeconds);
    if (ideal >= kWholeBelow) {
      pieces = std::clamp(static_cast<std::uint64_t>(ideal), kLeastPieces, kMostPieces);
    }
  }
  const std::uint64_t bytes = std::min((range_bytes + pieces - 1) / pieces, kMostPieceBytes);
  return std::max((bytes + element - 1) / element, std::uint64_t{1}) * element;
}

void Outbound::Push(std::uint32_t sequence, const PieceFrame& piece, const std::byte* data) {
  const Mark mark = link_ == nullptr ? 0 : link_->Extend(static_cast<double>(piece.bytes) * slowdown_);
  last_ = mark;
  const Waiting added{sequence, piece, data, mark};
  if (waiting_.empty() && (link_ == nullptr || IsDue(link_->Forecast(mark)))) return Leave(added);
  if (announces_) channel_->Send(EncodeAnnounce(sequence, piece));
  waiting_.push_back(added);
}

void Outbound::Advance() {
  while (!waiting_.empty()) {
    const Waiting& first = waiting_.front();
    const Nanos reached = link_->ReachedAt(first.mark);
    if (reached == kNever && !IsDue(link_->Forecast(first.mark))) return;
    const Nanos now = MonotonicNow();
    ReportLateness(Late::kRingStep, reached == kNever ? now : reached, now);
    Leave(first);
    waiting_.pop_front();
  }
}

void Outbound::Leave(const Waiting& waiting) {
  if (waiting.data == nullptr) {
    channel_->Send(EncodeHollow(waiting.sequence, waiting.piece));
    return;
  }
  auto frame = EncodePiece(waiting.sequence, waiting.piece, waiting.data);
  if (corrupt_) frame.back() ^= std::byte{0x01};
  corrupt_ = false;
  channel_->Send(std::move(frame));
}

Nanos Outbound::WakeAt() const {
  return waiting_.empty() ? kNever : Early(link_->Forecast(waiting_.front().mark));
}

std::optional<Inbound::Item> Inbound::Next() {
  if (held_) return Release();
  while (const auto frame = ended() ? std::nullopt : channel_->Receive()) {
    Item item{frame->header.kind, frame->header.sequence, {}, {}, {}};
    if (item.kind == Kind::kError) news_ = DecodeError(frame->payload);
    if (news_) return std::nullopt;
    if (!Decode(frame->payload, &item)) {
      broken_ = true;
      return std::nullopt;
    }
    if (item.kind == Kind::kAnnounce) {
      if (link_ != nullptr) Announced(item.piece.bytes);
      continue;
    }
    if (item.kind != Kind::kCall) ReportReceived(reach_, item.piece.bytes);
    if (item.kind == Kind::kCall || link_ == nullptr) return item;
    if (marks_.empty()) Announced(item.piece.bytes);
    held_data_.assign(item.data.begin(), item.data.end());
    item.data = held_data_;
    held_ = item;
    return Release();
  }
  return std::nullopt;
}

bool Inbound::Decode(std::span<const std::byte> payload, Item* item) {
  if (item->kind == Kind::kCall) {
    const auto call = DecodeCall(payload);
    if (call) item->call = *call;
    return call.has_value();
  }
  if (item->kind != Kind::kAnnounce && item->kind != Kind::kPiece && item->kind != Kind::kHollow)
    return false;
  const auto piece = item->kind == Kind::kPiece ? DecodePiece(payload, &item->data) : DecodeAnnounce(payload);
  if (piece) item->piece = *piece;
  return piece.has_value();
}

std::optional<Inbound::Item> Inbound::Release() {
  if (!IsDue(link_->Forecast(marks_.front()))) return std::nullopt;
  last_ = marks_.front();
  marks_.pop_front();
  return std::exchange(held_, std::nullopt);
}

Nanos Inbound::WakeAt() const { return held_ ? Early(link_->Forecast(marks_.front())) : kNever; }

}  // namespace simgpu::nccl
