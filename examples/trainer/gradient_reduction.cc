#include "examples/trainer/gradient_reduction.h"

#include "examples/trainer/failure.h"
#include "examples/trainer/reduction_options.h"

namespace crossover::trainer {

GradientReduction::GradientReduction(Gpu& gpu, Communicator& communicator, const BucketPlan& plan,
                                     const Rank& rank, const Options& options)
    : gpu_(gpu),
      communicator_(communicator),
      plan_(plan),
      all_(Group(0, rank.rank, rank.world)),
      in_buckets_(plan.total()),
      in_order_(plan.total()) {
  const auto local = static_cast<float>(rank.local_rank);
  std::vector<float> locals(rank.world);
  all_->AllGather(std::span(&local, 1), locals);
  const auto found = reductions::TopologyOf(std::vector<std::uint32_t>(locals.begin(), locals.end()));
  if (const auto* text = std::get_if<std::string>(&found)) throw Failure(*text, 2);
  reductions::Groups groups{{std::get<shrink::Topology>(found), rank.rank}};
  const reductions::Seat& seat = groups.seat;
  if (!IsFlat(options.reduction)) {
    if (seat.topology.per_node > 1) within_ = Group(seat.node(), seat.place(), seat.topology.per_node);
    across_ = Group(seat.place(), seat.node(), seat.topology.nodes);
  }
  groups.within = within_.get();
  groups.across = across_.get();
  reducer_ = std::make_unique<reductions::Reducer>(
      reductions::Settings{options.reduction, options.reduction_fault, options.seed,
                           options.topk_density == 0 ? kDefaultDensity : options.topk_density,
                           TensorBorders(plan.total())},
      all_.get(), groups);
}

std::unique_ptr<NcclPeers> GradientReduction::Group(std::size_t color, std::size_t place, std::size_t size) {
  return std::make_unique<NcclPeers>(gpu_, communicator_, communicator_.Split(static_cast<int>(color)), place,
                                     size);
}

// The reductions get gradients in the order of the parameters: which buckets these travel in changes nothing.
void GradientReduction::Reduce(float* buckets, std::uint64_t iteration) {
  gpu_.Download(in_buckets_.data(), buckets, in_buckets_.size() * sizeof(float));
  for (std::size_t i = 0; i < in_buckets_.size(); ++i) in_order_[plan_.source[i]] = in_buckets_[i];
  reducer_->Reduce(in_order_, iteration);
  for (std::size_t i = 0; i < in_buckets_.size(); ++i) in_buckets_[i] = in_order_[plan_.source[i]];
  gpu_.Upload(buckets, in_buckets_.data(), in_buckets_.size() * sizeof(float));
}

std::vector<std::size_t> TensorBorders(std::size_t total) {
  std::vector<std::size_t> borders;
  for (std::uint32_t layer = 0; layer < kLayers; ++layer) {
    borders.push_back(LayerOffset(layer));
    borders.push_back(BiasOffset(layer));
  }
  borders.push_back(kParameters);
  if (total > kParameters) borders.push_back(total);
  return borders;
}

}  // namespace crossover::trainer
