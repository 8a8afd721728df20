// Tests ranks that are threads of this process, over real sockets and without a GPU: rendezvous, rings,
// failures.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <latch>

#include "common/base/futex.h"
#include "simgpu/nccl/engine.h"

namespace simgpu::nccl {
namespace {

// A Rank is one rank with its engine. Its tasks begin at once.
class Rank {
 public:
  Rank(const ncclUniqueId& id, int ranks, int rank, const Fault& fault) {
    Meeting meeting;
    std::string error;
    Member self;
    std::strcpy(self.node, "node");
    joined_ = Meet(id, ranks, rank, self, 22809, cancel_, &meeting, &error);
    error_ = error;
    if (!joined_) return;
    auto network = std::make_unique<Network>(std::move(meeting), rank, nullptr, -1, fault);
    engine_ = std::make_unique<Engine>(std::move(network), &done_);
  }

  bool joined() const { return joined_; }
  const std::string& error() const { return error_; }
  Engine& engine() { return *engine_; }

  // Runs one collective in place. Returns the failure, whose text is empty if there was none.
  Failure Run(const Call& call, void* staging) {
    auto task = std::make_unique<Task>();
    task->ring = call;
    task->staging = static_cast<std::byte*>(staging);
    return Run(std::move(task));
  }
  Failure Run(std::unique_ptr<Task> task) {
    const std::uint32_t number = engine_->Submit(std::move(task));
    if (number == 0) return engine_->failure();
    engine_->Begin(number);
    for (std::uint32_t seen = 0; static_cast<std::int32_t>(seen - number) < 0;) {
      seen = crossover::base::LoadWord(&done_);
      if (static_cast<std::int32_t>(seen - number) < 0)
        crossover::base::FutexWait(&done_, seen, 1'000'000'000);
    }
    return engine_->failure();
  }

 private:
  Cancel cancel_;
  bool joined_ = false;
  std::string error_;
  std::uint32_t done_ = 0;
  std::unique_ptr<Engine> engine_;
};

class NcclEngineTest : public testing::Test {
 protected:
  NcclEngineTest() {
    setenv("NCCL_SOCKET_IFNAME", "lo", 1);
    std::string error;
    EXPECT_TRUE(StartRoot(&id_, &error)) << error;
  }

  // Runs `body` as each of `ranks` ranks, each in a thread of its own, once all of them have met: a rank that
  // ends earlier fails the others while they meet.
  void WithRanks(int ranks, const std::function<void(Rank&, int)>& body,
                 const std::map<int, Fault>& faults = {}) {
    std::latch have_met(ranks);
    std::vector<std::thread> threads;
    for (int r = 0; r < ranks; ++r) {
      threads.emplace_back([&, r] {
        const auto fault = faults.find(r);
        Rank rank(id_, ranks, r, fault == faults.end() ? Fault{} : fault->second);
        have_met.arrive_and_wait();
        ASSERT_TRUE(rank.joined()) << rank.error();
        body(rank, r);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  ncclUniqueId id_;
};

Call Sum(std::uint64_t count) { return {Function::kAllReduce, ncclFloat32, ncclSum, -1, count}; }

std::vector<float> Values(int rank, std::size_t count) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = 0.1f * static_cast<float>(i % 97) + 1e-3f * static_cast<float>(rank * rank);
  }
  return values;
}

TEST_F(NcclEngineTest, AllReduceIsBitIdenticalOnAllRanksAndInEachRun) {
  constexpr std::size_t kCount = 300'001;  // several pieces per step
  std::vector<std::vector<float>> results(8);
  WithRanks(4, [&](Rank& rank, int r) {
    for (int run = 0; run < 2; ++run) {
      auto values = Values(r, kCount);
      EXPECT_EQ(rank.Run(Sum(kCount), values.data()).text, "");
      results[static_cast<std::size_t>(4 * run + r)] = values;
    }
    rank.engine().Finish();
  });
  for (const auto& result : results) {
    ASSERT_EQ(result.size(), kCount);
    EXPECT_EQ(std::memcmp(result.data(), results[0].data(), kCount * sizeof(float)), 0);
  }
  double expected = 0;
  for (int r = 0; r < 4; ++r) expected += static_cast<double>(Values(r, 50)[49]);
  EXPECT_NEAR(static_cast<double>(results[0][49]), expected, 1e-5);
}

TEST_F(NcclEngineTest, ManyCollectivesInARow) {
  WithRanks(3, [&](Rank& rank, int r) {
    for (int i = 1; i <= 100; ++i) {
      auto values = Values(r, static_cast<std::size_t>(i));
      ASSERT_EQ(rank.Run(Sum(values.size()), values.data()).text, "");
      std::vector<std::int64_t> gathered(3, -1);
      gathered[static_cast<std::size_t>(r)] = 100 * i + r;
      ASSERT_EQ(rank.Run({Function::kAllGather, ncclInt64, ncclSum, -1, 1}, gathered.data()).text, "");
      EXPECT_EQ(gathered, (std::vector<std::int64_t>{100 * i, 100 * i + 1, 100 * i + 2}));
    }
    rank.engine().Finish();
  });
}

TEST_F(NcclEngineTest, MismatchFailsEverywhereAndNamesBothSides) {
  std::vector<Failure> failures(4);
  WithRanks(4, [&](Rank& rank, int r) {
    auto values = Values(r, 64);
    rank.Run(Sum(64), values.data());
    failures[static_cast<std::size_t>(r)] = rank.Run(Sum(r == 2 ? 63 : 64), values.data());
    rank.engine().Finish();
  });
  for (const Failure& failure : failures) {
    EXPECT_EQ(failure.result, ncclInvalidUsage);
    EXPECT_NE(failure.text.find("AllReduce(count=63, float32, sum)"), std::string::npos) << failure.text;
    EXPECT_NE(failure.text.find("AllReduce(count=64, float32, sum)"), std::string::npos) << failure.text;
    EXPECT_NE(failure.text.find("rank 2"), std::string::npos) << failure.text;
  }
}

TEST_F(NcclEngineTest, CutConnectionsFailEverywhere) {
  std::vector<Failure> failures(4);
  Fault fault;
  fault.drop = 1;
  WithRanks(4,
            [&](Rank& rank, int r) {
              auto values = Values(r, 64);
              rank.Run(Sum(64), values.data());
              failures[static_cast<std::size_t>(r)] = rank.Run(Sum(64), values.data());
            },
            {{1, fault}});
  for (const Failure& failure : failures) EXPECT_EQ(failure.result, ncclRemoteError) << failure.text;
}

TEST_F(NcclEngineTest, AbortOfOneRankReleasesAll) {
  std::vector<Failure> failures(3);
  WithRanks(3, [&](Rank& rank, int r) {
    auto values = Values(r, 64);
    if (r == 0) {
      rank.engine().Abort(ncclRemoteError, "rank 0 has aborted");
      rank.engine().Finish();
    } else {
      failures[static_cast<std::size_t>(r)] = rank.Run(Sum(64), values.data());
    }
  });
  EXPECT_EQ(failures[1].result, ncclRemoteError);
  EXPECT_EQ(failures[2].result, ncclRemoteError);
  EXPECT_EQ(failures[2].text, "rank 0 has aborted");
}

TEST_F(NcclEngineTest, NothingIsAcceptedAfterAFailure) {
  WithRanks(2, [&](Rank& rank, int) {
    rank.engine().Abort(ncclRemoteError, "enough");
    EXPECT_EQ(rank.engine().Submit(std::make_unique<Task>()), 0u);
  });
}

TEST_F(NcclEngineTest, CorruptedByteChangesTheResult) {
  std::vector<std::vector<float>> results(3);
  Fault fault;
  fault.corrupt_byte = 0;
  WithRanks(3,
            [&](Rank& rank, int r) {
              auto values = Values(r, 1000);
              EXPECT_EQ(rank.Run(Sum(1000), values.data()).text, "");
              results[static_cast<std::size_t>(r)] = values;
              rank.engine().Finish();
            },
            {{1, fault}});
  std::vector<float> expected(1000, 0);
  for (int r = 0; r < 3; ++r) {
    const auto values = Values(r, 1000);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] += values[i];
  }
  int wrong = 0;
  for (std::size_t i = 0; i < expected.size(); ++i)
    wrong += std::abs(results[0][i] - expected[i]) > 1e-3f ? 1 : 0;
  EXPECT_EQ(wrong, 1);
}

TEST_F(NcclEngineTest, SendAndRecvCross) {
  constexpr std::size_t kCount = 100'000;
  WithRanks(3, [&](Rank& rank, int r) {
    // Each rank sends to every rank, itself included, at once.
    std::vector<std::vector<float>> out, in(3, std::vector<float>(kCount));
    auto task = std::make_unique<Task>();
    for (int peer = 0; peer < 3; ++peer) out.push_back(Values(10 * r + peer, kCount));
    for (int peer = 0; peer < 3; ++peer) {
      const auto at = static_cast<std::size_t>(peer);
      task->transfers.push_back({{Function::kSend, ncclFloat32, ncclSum, peer, kCount},
                                 reinterpret_cast<std::byte*>(out[at].data()),
                                 kCount * 4});
      task->transfers.push_back({{Function::kRecv, ncclFloat32, ncclSum, peer, kCount},
                                 reinterpret_cast<std::byte*>(in[at].data()),
                                 kCount * 4});
    }
    EXPECT_EQ(rank.Run(std::move(task)).text, "");
    for (int peer = 0; peer < 3; ++peer)
      EXPECT_EQ(in[static_cast<std::size_t>(peer)], Values(10 * peer + r, kCount));
    rank.engine().Finish();
  });
}

TEST_F(NcclEngineTest, RanksThatDisagreeOnTheirNumberAreTold) {
  std::vector<std::string> errors(2);
  std::vector<std::thread> threads;
  for (int r = 0; r < 2; ++r) {
    threads.emplace_back([&, r] {
      const Rank rank(id_, 2 + r, r, {});
      EXPECT_FALSE(rank.joined());
      errors[static_cast<std::size_t>(r)] = rank.error();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(errors[0].find("nranks"), std::string::npos) << errors[0];
  EXPECT_NE(errors[1].find("nranks"), std::string::npos) << errors[1];
}

TEST_F(NcclEngineTest, RankThatDiesWhileOthersGatherIsTold) {
  std::thread survivor([&] {
    const Rank rank(id_, 3, 0, {});
    EXPECT_FALSE(rank.joined());
    EXPECT_EQ(rank.error(), "rank 1 left before all ranks were there");
  });
  Join join;
  join.nonce = DecodeUniqueId(id_)->nonce;
  join.ranks = 3;
  join.rank = 1;
  join.library = 22809;
  join.self.listener.family = 4;
  join.self.listener.port = 1;
  const Cancel never;
  std::string error;
  UniqueFd root = Connect(DecodeUniqueId(id_)->root, never, &error);
  ASSERT_TRUE(SendAll(root.get(), EncodeJoin(join), never, &error)) << error;
  root.Reset();
  survivor.join();
}

}  // namespace
}  // namespace simgpu::nccl
