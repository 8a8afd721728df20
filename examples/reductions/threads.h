// Runs the ranks of a reduction as threads of one process, and counts what they send. It is an example of
// Peers, and what tests and benchmarks run reductions with.
#pragma once

#include <algorithm>
#include <barrier>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "examples/reductions/groups.h"
#include "shrink/codec/bf16.h"

namespace crossover::reductions {

using Floats = std::vector<float>;

// A Board is what the ranks of a group write for each other. Between two barriers nothing changes.
class Board {
 public:
  explicit Board(std::size_t size) : barrier_(static_cast<std::ptrdiff_t>(size)), written_(size) {}
  // Shows all ranks what each has written, in the order of places. Calls read(all) before anything changes.
  template <typename Read>
  void Share(std::size_t place, std::vector<Bytes> mine, Read read) {
    written_[place] = std::move(mine);
    barrier_.arrive_and_wait();
    read(written_);
    barrier_.arrive_and_wait();
  }
  std::size_t size() const { return written_.size(); }

 private:
  std::barrier<> barrier_;
  std::vector<std::vector<Bytes>> written_;  // by place: for each place
};

class ThreadPeers : public Peers {
 public:
  ThreadPeers(Board& board, std::size_t place) : board_(board), place_(place) {}

  std::size_t place() const override { return place_; }
  std::size_t size() const override { return board_.size(); }
  std::uint64_t sent() const { return sent_; }  // bytes, by Exchange()

  std::vector<Bytes> Exchange(const std::vector<Bytes>& sent,
                              const std::vector<std::size_t>& expected) override {
    for (const Bytes& bytes : sent) sent_ += bytes.size();
    std::vector<Bytes> received;
    board_.Share(place_, sent, [&](const auto& all) {
      for (const auto& of : all) received.push_back(of[place_]);
    });
    for (std::size_t p = 0; p < received.size(); ++p) {
      if (received[p].size() != expected[p]) std::abort();  // NCCL would hang
    }
    return received;
  }
  void ReduceScatterSum(std::span<const float> all, std::span<float> mine) override {
    Floats sum(mine.size(), 0);
    Show(all, [&](std::size_t, const Floats& of) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of[place_ * mine.size() + i];
    });
    std::ranges::copy(sum, mine.begin());
  }
  void AllGather(std::span<const float> mine, std::span<float> all) override {
    Show(mine, [&](std::size_t place, const Floats& of) {
      std::ranges::copy(of, all.begin() + static_cast<std::ptrdiff_t>(place * mine.size()));
    });
  }
  void AllReduceBf16(std::span<std::uint16_t> values) override {
    Floats wide(values.size());
    shrink::Widen(values.data(), values.size(), wide.data());
    Show(wide, [&](std::size_t place, const Floats& of) {
      for (std::size_t i = 0; i < of.size(); ++i)
        values[i] = place == 0 ? shrink::ToBf16(of[i]) : shrink::ToBf16(shrink::FromBf16(values[i]) + of[i]);
    });
  }

 private:
  template <typename Read>
  void Show(std::span<const float> values, Read read) {
    Bytes bytes(values.size_bytes());
    if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
    board_.Share(place_, {bytes}, [&](const auto& all) {
      for (std::size_t place = 0; place < all.size(); ++place) {
        Floats of(all[place][0].size() / sizeof(float));
        if (!of.empty()) std::memcpy(of.data(), all[place][0].data(), all[place][0].size());
        read(place, of);
      }
    });
  }

  Board& board_;
  const std::size_t place_;
  std::uint64_t sent_ = 0;
};

// A ThreadRank is what one rank needs to reduce.
struct ThreadRank {
  std::unique_ptr<ThreadPeers> all, within, across;
  Groups groups;
};

// A World has the ranks of a topology. Run(work) calls work(rank) on a thread for each, and waits for all.
class World {
 public:
  explicit World(const shrink::Topology& topology) : all_(topology.ranks()), ranks_(topology.ranks()) {
    for (std::size_t i = 0; i < topology.nodes; ++i)
      within_.push_back(std::make_unique<Board>(topology.per_node));
    for (std::size_t i = 0; i < topology.per_node; ++i)
      across_.push_back(std::make_unique<Board>(topology.nodes));
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      ThreadRank& rank = ranks_[r];
      rank.groups.seat = {topology, r};
      const std::size_t node = rank.groups.seat.node(), place = rank.groups.seat.place();
      rank.all = std::make_unique<ThreadPeers>(all_, r);
      rank.within = std::make_unique<ThreadPeers>(*within_[node], place);
      rank.across = std::make_unique<ThreadPeers>(*across_[place], node);
      rank.groups.within = rank.within.get();
      rank.groups.across = rank.across.get();
    }
  }

  template <typename Work>
  void Run(Work work) {
    std::vector<std::thread> threads;
    for (ThreadRank& rank : ranks_) threads.emplace_back([&] { work(rank); });
    for (std::thread& thread : threads) thread.join();
  }
  const ThreadRank& rank(std::size_t r) const { return ranks_[r]; }

 private:
  Board all_;
  std::vector<std::unique_ptr<Board>> within_, across_;
  std::vector<ThreadRank> ranks_;
};

}  // namespace crossover::reductions
