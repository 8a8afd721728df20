// Tests the ring as data. The test carries out the plans without any thread or socket, and they must
// produce the sums.
#include <gtest/gtest.h>

#include <numeric>

#include "simgpu/nccl/arithmetic.h"
#include "simgpu/nccl/ring.h"

namespace simgpu::nccl {
namespace {

using Buffer = std::vector<std::int32_t>;

struct RingCase {
  Function function;
  int ranks;
  std::uint64_t count;
  int root;
};

std::vector<Buffer> Inputs(const RingCase& c) {
  std::vector<Buffer> inputs;
  const Call call{c.function, ncclInt32, ncclSum, c.root, c.count};
  for (int r = 0; r < c.ranks; ++r) {
    Buffer input(SendBytes(call, c.ranks) / 4);
    std::iota(input.begin(), input.end(), 1000 * (r + 1));
    inputs.push_back(input);
  }
  return inputs;
}

// Runs all plans in lock-step: in each round a rank sends one element that it may send, if any.
std::vector<Buffer> Execute(const RingCase& c, const std::vector<Buffer>& inputs) {
  const Call call{c.function, ncclInt32, ncclSum, c.root, c.count};
  struct Rank {
    Plan plan;
    Buffer staging;
    std::size_t send_step = 0, recv_step = 0;
    std::uint64_t sent = 0, received = 0;
  };
  std::vector<Rank> ranks(static_cast<std::size_t>(c.ranks));
  for (int r = 0; r < c.ranks; ++r) {
    Rank& rank = ranks[static_cast<std::size_t>(r)];
    rank.plan = MakePlan(call, r, c.ranks);
    rank.staging.assign(rank.plan.staging_bytes / 4, -1);
    if (rank.plan.input.bytes > 0) {
      const Buffer& input = inputs[static_cast<std::size_t>(r)];
      EXPECT_EQ(rank.plan.input.bytes, input.size() * 4);
      std::copy(input.begin(), input.end(),
                rank.staging.begin() + static_cast<long>(rank.plan.input.offset / 4));
    }
  }
  bool moved = true;
  while (moved) {
    moved = false;
    for (int r = 0; r < c.ranks; ++r) {
      Rank& from = ranks[static_cast<std::size_t>(r)];
      Rank& to = ranks[static_cast<std::size_t>((r + 1) % c.ranks)];
      while (from.send_step < from.plan.steps.size() &&
             from.sent == from.plan.steps[from.send_step].send.bytes) {
        ++from.send_step;
        from.sent = 0;
      }
      while (to.recv_step < to.plan.steps.size() && to.received == to.plan.steps[to.recv_step].recv.bytes) {
        ++to.recv_step;
        to.received = 0;
      }
      if (from.send_step == from.plan.steps.size()) continue;
      if (Sendable(from.plan, from.send_step, from.recv_step, from.received) < from.sent + 4) continue;
      if (to.recv_step >= to.plan.steps.size()) {
        ADD_FAILURE() << "rank " << r << " sends what no rank receives";
        return {};
      }
      const Range source = from.plan.steps[from.send_step].send;
      const Step& step = to.plan.steps[to.recv_step];
      EXPECT_EQ(source.bytes, step.recv.bytes);
      const std::int32_t value = from.staging[(source.offset + from.sent) / 4];
      std::int32_t& target = to.staging[(step.recv.offset + to.received) / 4];
      target = step.fold ? target + value : value;
      from.sent += 4;
      to.received += 4;
      moved = true;
    }
  }
  std::vector<Buffer> outputs;
  for (const Rank& rank : ranks) {
    const auto begin = rank.staging.begin() + static_cast<long>(rank.plan.output.offset / 4);
    outputs.emplace_back(begin, begin + static_cast<long>(rank.plan.output.bytes / 4));
  }
  return outputs;
}

Buffer Sum(const std::vector<Buffer>& inputs) {
  Buffer sum(inputs[0].size(), 0);
  for (const Buffer& input : inputs) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += input[i];
  }
  return sum;
}

class RingTest : public testing::TestWithParam<std::tuple<int, std::uint64_t>> {
 protected:
  int ranks() const { return std::get<0>(GetParam()); }
  std::uint64_t count() const { return std::get<1>(GetParam()); }
};

TEST_P(RingTest, AllReduceGivesEveryRankTheSum) {
  const RingCase c{Function::kAllReduce, ranks(), count(), -1};
  const auto inputs = Inputs(c);
  for (const Buffer& output : Execute(c, inputs)) EXPECT_EQ(output, Sum(inputs));
}

TEST_P(RingTest, AllReduceTakesTwiceRanksMinusOneSteps) {
  const Plan plan = MakePlan({Function::kAllReduce, ncclInt32, ncclSum, -1, count()}, 0, ranks());
  EXPECT_EQ(plan.steps.size(), 2u * (static_cast<unsigned>(ranks()) - 1));
}

TEST_P(RingTest, ReduceScatterGivesEveryRankItsPart) {
  const RingCase c{Function::kReduceScatter, ranks(), count(), -1};
  const auto inputs = Inputs(c);
  const Buffer sum = Sum(inputs);
  const auto outputs = Execute(c, inputs);
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    const auto begin = sum.begin() + static_cast<long>(r * count());
    EXPECT_EQ(outputs[r], Buffer(begin, begin + static_cast<long>(count())));
  }
}

TEST_P(RingTest, AllGatherGivesEveryRankEverything) {
  const RingCase c{Function::kAllGather, ranks(), count(), -1};
  const auto inputs = Inputs(c);
  Buffer all;
  for (const Buffer& input : inputs) all.insert(all.end(), input.begin(), input.end());
  for (const Buffer& output : Execute(c, inputs)) EXPECT_EQ(output, all);
}

TEST_P(RingTest, BroadcastAndReduceWorkFromEveryRoot) {
  for (int root = 0; root < ranks(); ++root) {
    const RingCase broadcast{Function::kBroadcast, ranks(), count(), root};
    auto inputs = Inputs(broadcast);
    for (const Buffer& output : Execute(broadcast, inputs))
      EXPECT_EQ(output, inputs[static_cast<std::size_t>(root)]);
    const RingCase reduce{Function::kReduce, ranks(), count(), root};
    inputs = Inputs(reduce);
    const auto outputs = Execute(reduce, inputs);
    for (int r = 0; r < ranks(); ++r) {
      EXPECT_EQ(outputs[static_cast<std::size_t>(r)], r == root ? Sum(inputs) : Buffer());
    }
  }
}

// The counts have fewer elements than ranks, an odd remainder, and plenty of elements.
INSTANTIATE_TEST_SUITE_P(Sizes, RingTest,
                         testing::Combine(testing::Values(2, 3, 4, 7, 8),
                                          testing::Values(1u, 3u, 64u, 129u)));

TEST(PartTest, PartsCoverAllElementsInOrder) {
  std::uint64_t next = 0;
  for (std::uint64_t i = 0; i < 5; ++i) {
    const Range part = Part(13, 4, i, 5);
    EXPECT_EQ(part.offset, next);
    next += part.bytes;
    EXPECT_GE(part.bytes, 8u);
    EXPECT_LE(part.bytes, 12u);
  }
  EXPECT_EQ(next, 13u * 4);
}

TEST(RingAverageTest, DividesOnceAtTheLastFold) {
  const Plan plan = MakePlan({Function::kAllReduce, ncclFloat32, ncclAvg, -1, 8}, 1, 4);
  int divides = 0;
  for (const Step& step : plan.steps) divides += step.divide ? 1 : 0;
  EXPECT_EQ(divides, 1);
  EXPECT_TRUE(plan.steps[2].divide);
}

}  // namespace
}  // namespace simgpu::nccl
