// Simulates a cluster to which random things happen. The engine decides, and a referee checks the
// decisions.
#pragma once

#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "extender/placement/engine.h"
#include "tests/unit/extender/placement/cluster.h"

namespace crossover::placement {

// Falsifies what the engine is told and what it decides. By default it changes nothing.
struct Lies {
  std::function<void(Gang&)> about_gang = [](Gang&) {};
  std::function<void(Placed&)> about_placed = [](Placed&) {};
  std::function<void(Node&)> about_node = [](Node&) {};
  std::function<void(Decision&)> in_decision = [](Decision&) {};
};

class World {
 public:
  World(std::uint64_t seed, const Lies& lies);

  // Makes one thing happen: a gang comes or ends, a node is lost, comes back, is cordoned, a GPU fails or
  // heals, a job's profile is learnt, a pod is lost, or the engine decides and some binds fail. Returns the
  // fault that came of it, or "".
  std::string Step();

  int met() const { return met_; }              // plans that put a gang beside another one
  int made_room() const { return made_room_; }  // gangs that got the place of others
  const std::set<Reason>& reasons() const { return reasons_; }

 private:
  int Random(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }
  void Arrive();
  void End();
  void LoseNode();
  void ReturnNode();
  void ChangeNode();
  void Learn();
  void LosePod();
  std::string Decide();
  std::string FaultOfLower(const State& told, const std::vector<Gang>& asked, const Decision& decision);
  void CarryOut(const Decision& decision);
  void MakeRoom(const Preemption& preemption);
  void Settle(const std::string& gang, const std::vector<Seat>& seats);

  std::mt19937_64 random_;
  Lies lies_;
  Settings settings_;
  State state_;
  std::vector<Node> lost_;
  std::vector<Gang> waiting_;
  std::set<std::string> learnt_;
  double now_s_ = 0;
  int gangs_ = 0;
  int met_ = 0;
  int made_room_ = 0;
  std::set<Reason> reasons_;
};

}  // namespace crossover::placement
