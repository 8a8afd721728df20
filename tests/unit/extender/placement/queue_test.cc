#include "extender/placement/queue.h"

#include <gtest/gtest.h>

#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {
namespace {

class QueueTest : public ::testing::Test {
 protected:
  Gang& Add(const std::string& id, const std::string& space, double arrived_s,
            Priority priority = Priority::kNormal) {
    gangs_.push_back(Job(id));
    gangs_.back().space = space;
    gangs_.back().arrived_s = arrived_s;
    gangs_.back().priority = priority;
    return gangs_.back();
  }
  // Returns the ids of all gangs in the order of the queue. Each gang is charged when it is served.
  std::string Served(double now_s) {
    std::vector<const Gang*> waiting;
    for (const Gang& gang : gangs_) waiting.push_back(&gang);
    const Occupancy occupancy(state_);
    Queue queue(occupancy, waiting, now_s, {});
    std::string served;
    while (const Gang* gang = queue.Next()) {
      served += gang->id;
      queue.Charge(*gang);
    }
    return served;
  }
  State state_{.nodes = Nodes(2, 4), .placed = {}, .observed = {}};
  std::vector<Gang> gangs_;
};

TEST_F(QueueTest, FirstComeFirstServedWithinANamespace) {
  Add("b", "x", 2), Add("a", "x", 1), Add("c", "x", 3);
  EXPECT_EQ(Served(10), "abc");
}

TEST_F(QueueTest, PriorityGoesBeforeTime) {
  Add("a", "x", 1, Priority::kLow), Add("b", "x", 2), Add("c", "x", 3, Priority::kHigh);
  EXPECT_EQ(Served(10), "cba");
}

TEST_F(QueueTest, NamespacesTakeTurns) {
  Add("a", "x", 1), Add("b", "x", 2), Add("c", "y", 3), Add("d", "y", 4);
  EXPECT_EQ(Served(10), "acbd");
}

TEST_F(QueueTest, WhoHasGpusWaitsForWhoHasNone) {
  Gang running = Job("r");
  running.space = "x";
  state_.placed = {OnAll(running, {state_.nodes[0]})};
  Add("a", "x", 1), Add("b", "y", 2);
  EXPECT_EQ(Served(10), "ba");
}

// A gang on shared GPUs counts for a part of them: namespaces x and z share four GPUs, and y has four for
// itself.
TEST_F(QueueTest, SharedGpusCountInParts) {
  Gang r = Job("r"), s = Job("s"), t = Job("t");
  r.space = "x", s.space = "z", t.space = "y";
  state_.placed = {OnAll(r, {state_.nodes[0]}), OnAll(s, {state_.nodes[0]}), OnAll(t, {state_.nodes[1]})};
  Add("a", "y", 1), Add("b", "x", 2);
  EXPECT_EQ(Served(10), "ba");
}

TEST_F(QueueTest, WhoHasWaitedForTooLongGoesFirst) {
  Add("a", "x", 5000, Priority::kHigh), Add("b", "x", 1, Priority::kLow), Add("c", "x", 0, Priority::kLow);
  EXPECT_EQ(Served(100), "acb");
  EXPECT_EQ(Served(5000), "cba");
}

TEST_F(QueueTest, WhoWasTakenIsNotServed) {
  Add("a", "x", 1), Add("b", "x", 2);
  const Occupancy occupancy(state_);
  const std::vector<const Gang*> waiting{&gangs_[0], &gangs_[1]};
  Queue queue(occupancy, waiting, 10, {});
  queue.Take(gangs_[0]);
  EXPECT_EQ(queue.Next(), &gangs_[1]);
  EXPECT_EQ(queue.Next(), nullptr);
}

}  // namespace
}  // namespace crossover::placement
