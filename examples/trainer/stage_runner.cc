#include "examples/trainer/stage_runner.h"

#include <cmath>
#include <utility>

#include "examples/trainer/ops.h"

namespace crossover::trainer {
namespace {

using pipeline::Half;
using pipeline::Operation;

constexpr int kLower = 0, kUpper = 1;  // ranks in the communicator of two neighbours

std::uint32_t RowsOf(Half half) {
  if (half == Half::kWhole) return kAllRows;
  return half == Half::kFirst ? kFirstRows : kSecondRows;
}

}  // namespace

StageRunner::StageRunner(Gpu& gpu, Communicator& communicator, Timeline& timeline, const StageState& state,
                         const Stages& stages, std::vector<Operation> order, std::uint32_t slots,
                         const Rank& rank, StageFault fault)
    : gpu_(gpu),
      communicator_(communicator),
      timeline_(timeline),
      state_(state),
      stages_(stages),
      order_(std::move(order)),
      slots_(slots),
      rank_(rank.rank),
      fault_(fault) {
  if (rank.world == 1) return;
  // Border b is that between the ranks b and b + 1. A rank is in one communicator of a split at most, so even
  // and odd borders have splits of their own.
  const auto split = [&](int parity) {
    const int own = static_cast<int>(rank_), border = own % 2 == parity ? own : own - 1;
    return communicator_.Split(border + 1 < static_cast<int>(rank.world) ? border : -1);
  };
  const std::size_t ahead[] = {split(0), split(1)}, back[] = {split(0), split(1)};
  const bool first = rank_ == 0, last = rank_ + 1 == rank.world;
  input_ = MakeLane(ahead[0], ahead[1], rank_ - 1, !first, kLower);
  input_gradient_ = MakeLane(back[0], back[1], rank_ - 1, !first, kLower);
  output_ = MakeLane(ahead[0], ahead[1], rank_, !last, kUpper);
  output_gradient_ = MakeLane(back[0], back[1], rank_, !last, kUpper);
}

std::optional<StageRunner::Lane> StageRunner::MakeLane(std::size_t even, std::size_t odd,
                                                       std::uint32_t border, bool exists, int peer) {
  if (!exists) return std::nullopt;
  Lane lane{border % 2 == 0 ? even : odd, peer, gpu_.MakeStream(), {}, {}};
  for (std::uint32_t slot = 0; slot < slots_; ++slot) {
    lane.free.push_back(gpu_.MakeEvent(false));
    for (int part = 0; part < 2; ++part) lane.full.push_back(gpu_.MakeEvent(false));
  }
  return lane;
}

void StageRunner::Train(std::uint64_t iteration, double factor) {
  kernels_ = 0;
  for (const Operation& operation : order_) {
    if (operation.forward) {
      Forward(operation, iteration, factor);
    } else {
      Backward(operation, iteration, factor);
    }
  }
  const Stage& stage = state_.state.stage;
  Launch(Kernel::kUpdate, 0, iteration, BlockOffset(stage.begin), BlocksEnd(stage.end, stage.blocks));
  Launch(Kernel::kRecordLoss, 0, iteration, 0, 0);
}

void StageRunner::Forward(const Operation& operation, std::uint64_t iteration, double factor) {
  const auto microbatch = static_cast<std::uint32_t>(operation.microbatch);
  const Part part{microbatch % slots_, RowsOf(operation.half)};
  const std::uint32_t rows = state_.state.rows, b = SlotArgument(part.slot, part.rows);
  const std::uint32_t begin = part.rows == kSecondRows ? ops::HalfBegin(rows, 1) : 0;
  const std::uint32_t count = part.rows == kAllRows ? rows : ops::HalfSize(rows, part.rows - 1);
  const std::size_t offset = std::size_t{begin} * kBlockWidth, floats = std::size_t{count} * kBlockWidth;
  if (input_ && !Lost(operation, false)) Receive(*input_, part, state_.input(part.slot) + offset, floats);
  AwaitMessages(input_, output_, part);
  const Stage& stage = state_.state.stage;
  if (stage.begin == 0) Launch(Kernel::kBlockLoad, 0, iteration, microbatch, b);
  for (std::uint32_t block = stage.begin; block < stage.end; ++block)
    Launch(Kernel::kBlockForward, ForwardNs(stages_, block, operation.half) * factor, iteration, block, b);
  if (output_ && !Lost(operation, true)) Send(*output_, part, state_.output(part.slot) + offset, floats);
}

void StageRunner::Backward(const Operation& operation, std::uint64_t iteration, double factor) {
  const auto microbatch = static_cast<std::uint32_t>(operation.microbatch);
  const Part part{microbatch % slots_, kAllRows};
  const std::uint32_t b = SlotArgument(part.slot, kAllRows);
  const std::size_t floats = LevelFloats(state_.state.rows);
  const Stage& stage = state_.state.stage;
  if (output_gradient_) Receive(*output_gradient_, part, state_.output_gradient(part.slot), floats);
  AwaitMessages(output_gradient_, input_gradient_, part);
  if (stage.end == stage.blocks) Launch(Kernel::kBlockLoss, 0, iteration, microbatch, b);
  for (std::uint32_t block = stage.end; block-- > stage.begin;) {
    Launch(Kernel::kBlockBackward, stages_.backward_ms[block] * 1e6 * factor, iteration, block,
           b + (microbatch > 0 ? kAddGradients : 0));
  }
  // The last message of the iteration carries its loss.
  if (microbatch + 1 == stages_.microbatches) Launch(Kernel::kBlockPassLoss, 0, iteration, 0, b);
  if (input_gradient_) Send(*input_gradient_, part, state_.input_gradient(part.slot), floats);
  // The slot is free for what comes next.
  if (input_) gpu_.Record(input_->free[part.slot], gpu_.compute());
  if (output_gradient_) gpu_.Record(output_gradient_->free[part.slot], gpu_.compute());
}

void StageRunner::Receive(const Lane& lane, const Part& part, float* data, std::size_t floats) {
  gpu_.StreamWait(lane.stream, lane.free[part.slot]);
  communicator_.Receive(lane.split, lane.peer, data, floats, lane.stream);
  gpu_.Record(lane.full[part.full()], lane.stream);
}

void StageRunner::Send(const Lane& lane, const Part& part, const float* data, std::size_t floats) {
  gpu_.Record(lane.full[part.full()], gpu_.compute());
  gpu_.StreamWait(lane.stream, lane.full[part.full()]);
  communicator_.Send(lane.split, lane.peer, data, floats, lane.stream);
  gpu_.Record(lane.free[part.slot], lane.stream);
}

void StageRunner::AwaitMessages(const std::optional<Lane>& from, const std::optional<Lane>& to,
                                const Part& part) {
  if (!from && !to) return;
  timeline_.CloseSegment();
  if (from && fault_ != StageFault::kNoWait) gpu_.StreamWait(gpu_.compute(), from->full[part.full()]);
  // The first half of a slot is still being sent while the second one is computed.
  if (to && part.rows != kSecondRows) gpu_.StreamWait(gpu_.compute(), to->free[part.slot]);
  gpu_.Launch(Kernel::kMarker, 0, state_.on_device, 0, 0, 0);
  timeline_.OpenSegment();
}

void StageRunner::Launch(Kernel kernel, double ns, std::uint64_t iteration, std::uint32_t a,
                         std::uint32_t b) {
  gpu_.Launch(kernel, static_cast<std::uint64_t>(std::llround(ns)), state_.on_device, iteration, a, b);
  ++kernels_;
}

bool StageRunner::Lost(const Operation& operation, bool sends) const {
  return fault_ == StageFault::kNoMessage && operation.microbatch == 0 && rank_ == (sends ? 0 : 1);
}

}  // namespace crossover::trainer
