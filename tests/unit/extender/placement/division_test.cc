// Compares the choice of nodes under a gang's own constraints with a referee that tries every choice and
// every order, and that shares no code with it.
#include "extender/placement/division.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <random>
#include <set>

namespace crossover::placement {
namespace {

using Chosen = std::vector<int>;  // pods by room

int DomainOf(const Division& division, const Room& room) {
  return division.of[static_cast<std::size_t>(room.node)];
}

// Judges as a scheduler does that binds one pod after the other.
class Referee {
 public:
  Referee(std::vector<Division> divisions, std::vector<Room> rooms, int pods)
      : divisions_(std::move(divisions)), rooms_(std::move(rooms)), pods_(pods) {}

  // Returns whether some choice has an order.
  bool AnyChoice() { return Reaches(Chosen(rooms_.size()), pods_, {}); }
  // Returns whether this choice has an order.
  bool HasOrder(const Chosen& chosen) {
    const int pods = std::accumulate(chosen.begin(), chosen.end(), 0);
    if (pods != pods_) return false;
    for (std::size_t r = 0; r < rooms_.size(); ++r) {
      if (chosen[r] < 0 || chosen[r] > rooms_[r].pods) return false;
    }
    return Reaches(Chosen(rooms_.size()), pods, chosen);
  }
  // Returns whether this order of rooms is one in which the scheduler binds every pod.
  bool Binds(const std::vector<std::size_t>& order) const {
    Chosen bound(rooms_.size());
    for (const std::size_t room : order) {
      if (!Takes(bound, room)) return false;
      ++bound[room];
    }
    return true;
  }

 private:
  // Returns whether the scheduler binds the next pod to this room.
  bool Takes(const Chosen& bound, std::size_t room) const {
    return bound[room] < rooms_[room].pods &&
           std::ranges::all_of(divisions_, [&](const Division& one) { return Allows(one, bound, room); });
  }
  bool Allows(const Division& division, const Chosen& bound, std::size_t room) const {
    const int domain = DomainOf(division, rooms_[room]);
    if (domain < 0) return !division.together;
    std::vector<int> ours(division.there.size());
    int elsewhere = 0;
    for (std::size_t r = 0; r < rooms_.size(); ++r) {
      const int other = DomainOf(division, rooms_[r]);
      if (other >= 0) ours[static_cast<std::size_t>(other)] += bound[r];
      if (other != domain) elsewhere += bound[r];
    }
    const int here = ours[static_cast<std::size_t>(domain)];
    if (division.most > 0 && here + 1 > division.most) return false;
    if (division.together && elsewhere > 0) return false;
    if (division.skew == 0) return true;
    int fewest = 1 << 20;
    for (std::size_t d = 0; d < ours.size(); ++d) fewest = std::min(fewest, division.there[d] + ours[d]);
    if (division.from_none) fewest = 0;
    return division.there[static_cast<std::size_t>(domain)] + here + 1 - fewest <= division.skew;
  }
  // Tries every order. If `goal` is not empty, only up to these numbers.
  bool Reaches(const Chosen& bound, int left, const Chosen& goal) {
    if (!(goal.empty() ? free_ : seen_).insert(bound).second) return false;
    if (left == 0) return true;
    for (std::size_t r = 0; r < rooms_.size(); ++r) {
      if (!goal.empty() && bound[r] >= goal[r]) continue;
      if (!Takes(bound, r)) continue;
      Chosen next = bound;
      ++next[r];
      if (Reaches(next, left - 1, goal)) return true;
    }
    return false;
  }

  std::vector<Division> divisions_;
  std::vector<Room> rooms_;
  int pods_;
  std::set<Chosen> seen_, free_;  // that have been tried
};

// A Case is a small cluster of two zones with racks in them, and constraints of one gang.
struct Case {
  std::vector<Division> divisions;
  std::vector<Room> rooms;
  int pods = 0;
  int skews = 0;
};

Case MadeCase(std::mt19937& random, int most_skews) {
  const auto upto = [&random](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most + 1));
  };
  Case made;
  const int nodes = 1 + upto(5);
  std::vector<int> zone, rack;
  for (int n = 0; n < nodes; ++n) {
    rack.push_back(upto(3));
    zone.push_back(rack.back() / 2);  // racks 0 and 1 are in zone 0
    if (upto(4) > 0) made.rooms.push_back({n, upto(3)});
  }
  std::vector<int> each(static_cast<std::size_t>(nodes));
  std::iota(each.begin(), each.end(), 0);
  made.pods = 1 + upto(6);
  const int count = 1 + upto(2);
  for (int i = 0; i < count; ++i) {
    Division division{
        .what = "", .of = std::vector{zone, rack, each}[static_cast<std::size_t>(upto(2))], .there = {}};
    const int domains = std::max(4, nodes);
    const int used = 1 + *std::ranges::max_element(division.of);
    division.there.resize(static_cast<std::size_t>(upto(1) == 0 ? used : domains));
    for (int& pods : division.there) pods = upto(2) == 0 ? upto(3) : 0;
    const int kind = upto(3);
    if (kind == 0) division.most = 1 + upto(1);
    if (kind == 1) division.together = true;
    if (kind >= 2 && made.skews < most_skews) {
      division.skew = 1 + upto(1);
      division.from_none = upto(3) == 0;
      ++made.skews;
    }
    if (count == 1 && upto(7) == 0) division.of[0] = -1;  // else domains could overlap
    made.divisions.push_back(std::move(division));
  }
  return made;
}

// Returns the order of rooms that the waves allow, the last room first within each wave.
std::vector<std::size_t> OrderOf(const std::vector<int>& waves, const std::vector<std::size_t>& room_of) {
  std::vector<std::size_t> pods(waves.size());
  std::iota(pods.begin(), pods.end(), 0);
  std::ranges::stable_sort(pods, [&](std::size_t a, std::size_t b) {
    return std::pair(waves[a], room_of[b]) < std::pair(waves[b], room_of[a]);
  });
  std::vector<std::size_t> order;
  for (const std::size_t pod : pods) order.push_back(room_of[pod]);
  return order;
}

struct Tally {
  int found = 0, none = 0, waves = 0, missed = 0;
};

// Tries one case, and returns what is wrong with what Divide() says, or "".
std::string FaultOf(
    const Case& made, Tally* tally, const std::function<void(Chosen*)>& plant = [](Chosen*) {}) {
  Referee referee(made.divisions, made.rooms, made.pods);
  auto chosen = Divide(made.divisions, made.rooms, made.pods, false);
  const bool any = referee.AnyChoice();
  if (!chosen) {
    ++tally->none;
    tally->missed += any ? 1 : 0;
    return any && made.skews < 2 ? "there is a choice" : "";
  }
  ++tally->found;
  plant(&*chosen);
  if (!referee.HasOrder(*chosen)) return "no order binds all pods";
  std::vector<Room> rooms;
  std::vector<std::size_t> room_of;
  std::vector<int> nodes;
  for (std::size_t r = 0; r < made.rooms.size(); ++r) {
    rooms.push_back({made.rooms[r].node, (*chosen)[r]});
    for (int i = 0; i < (*chosen)[r]; ++i) room_of.push_back(r), nodes.push_back(made.rooms[r].node);
  }
  if (!Permits(made.divisions, rooms)) return "it does not permit what it chose";
  const auto waves = WavesOf(made.divisions, nodes);
  if (!waves) return "it has no waves";
  tally->waves += *std::ranges::max_element(*waves) > 0 ? 1 : 0;
  return referee.Binds(OrderOf(*waves, room_of)) ? "" : "the waves are refused";
}

TEST(DivisionTest, IsThatOfTheRefereeForOneSkew) {
  std::mt19937 random(1);
  Tally tally;
  for (int i = 0; i < 20'000; ++i) {
    const Case made = MadeCase(random, 1);
    ASSERT_EQ(FaultOf(made, &tally), "") << "case " << i;
  }
  EXPECT_GT(tally.found, 4'000);
  EXPECT_GT(tally.none, 4'000);
  EXPECT_GT(tally.waves, 200) << "cases whose pods need an order";
  EXPECT_EQ(tally.missed, 0);
}

// For the order of pods under several constraints with a skew it is careful, and seldom so.
TEST(DivisionTest, IsNeverWrongForSeveralSkews) {
  std::mt19937 random(2);
  Tally tally;
  for (int i = 0; i < 20'000; ++i) {
    const Case made = MadeCase(random, 3);
    ASSERT_EQ(FaultOf(made, &tally), "") << "case " << i;
  }
  RecordProperty("missed", tally.missed);
  EXPECT_GT(tally.found, 4'000);
  EXPECT_LT(tally.missed, tally.found / 100) << tally.missed;
}

// A gang that must join others does not choose its nodes: Permits() judges what they have.
TEST(DivisionTest, PermitsWhatHasAnOrder) {
  std::mt19937 random(3);
  int permitted = 0, refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    const Case made = MadeCase(random, 1);
    std::vector<Room> rooms;
    Chosen chosen;
    int pods = 0;
    for (const Room& room : made.rooms) {
      chosen.push_back(static_cast<int>(random() % static_cast<unsigned>(room.pods + 1)));
      rooms.push_back({room.node, chosen.back()});
      pods += chosen.back();
    }
    Referee referee(made.divisions, made.rooms, pods);
    const bool permits = Permits(made.divisions, rooms);
    ASSERT_EQ(permits, referee.HasOrder(chosen)) << "case " << i;
    ++(permits ? permitted : refused);
  }
  EXPECT_GT(permitted, 2'000);
  EXPECT_GT(refused, 2'000);
}

// Faults that are planted into each choice are seen.
TEST(DivisionTest, TheRefereeSeesPlantedFaults) {
  const auto seen = [](const std::function<void(Chosen*)>& plant) {
    std::mt19937 random(4);
    Tally tally;
    int faults = 0;
    for (int i = 0; i < 2'000; ++i) faults += FaultOf(MadeCase(random, 1), &tally, plant).empty() ? 0 : 1;
    return faults;
  };
  EXPECT_EQ(seen([](Chosen*) {}), 0);
  EXPECT_GT(seen([](Chosen* chosen) { chosen->front() += 1; }), 100) << "a pod too many";
  EXPECT_GT(seen([](Chosen* chosen) {
              const int all = std::accumulate(chosen->begin(), chosen->end(), 0);
              std::ranges::fill(*chosen, 0);
              chosen->back() = all;
            }),
            100)
      << "all pods on one node";
  EXPECT_GT(seen([](Chosen* chosen) { std::rotate(chosen->begin(), chosen->begin() + 1, chosen->end()); }),
            100)
      << "pods on other nodes than those that were chosen";
}

Division Zones(std::vector<int> of, std::vector<int> there) {
  return {.what = "zone", .of = std::move(of), .there = std::move(there)};
}

TEST(DivisionTest, FewNodesAreChosen) {
  Division apart = Zones({0, 0, 1, 1}, {0, 0});
  apart.most = 2;
  const std::vector<Room> rooms = {{0, 1}, {1, 2}, {2, 2}, {3, 4}};
  EXPECT_EQ(Divide({{apart}}, rooms, 4, false), (std::vector{0, 2, 2, 0}));
  EXPECT_EQ(Divide({{apart}}, rooms, 5, false), std::nullopt);
}

TEST(DivisionTest, PodsThatCountAlreadyDoNotIfTheClusterWereEmpty) {
  Division spread = Zones({0, 1}, {3, 0});
  spread.skew = 1;
  const std::vector<Room> rooms = {{0, 4}, {1, 2}};
  EXPECT_EQ(Divide({{spread}}, rooms, 4, false), std::nullopt);
  EXPECT_EQ(Divide({{spread}}, rooms, 3, true), (std::vector{2, 1}));
}

TEST(DivisionTest, DomainsThatOverlapAreRefused) {
  const Division zone = Zones({0, 0, 1}, {0, 0}), other = Zones({0, 1, 1}, {0, 0});
  const std::vector<Room> rooms = {{0, 1}, {1, 1}, {2, 1}};
  EXPECT_EQ(Divide({{zone, other}}, rooms, 2, false), std::nullopt);
}

TEST(DivisionTest, WavesGoOnceThroughTheZones) {
  Division spread = Zones({0, 1}, {0, 0});
  spread.skew = 1;
  EXPECT_EQ(WavesOf({{spread}}, std::vector{0, 0, 1, 1}), (std::vector{0, 1, 0, 1}));
  spread.skew = 2;
  EXPECT_EQ(WavesOf({{spread}}, std::vector{0, 0, 1, 1}), (std::vector{0, 0, 0, 0}));
  EXPECT_EQ(WavesOf({{spread}}, std::vector{0, 0, 0}), std::nullopt);
  EXPECT_EQ(WavesOf({}, std::vector{0, 0, 0}), (std::vector{0, 0, 0}));
}

}  // namespace
}  // namespace crossover::placement
