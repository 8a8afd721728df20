#include "extender/placement/mapping.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <optional>
#include <utility>

namespace crossover::placement {
namespace {

constexpr int kNone = -1;

std::size_t At(int index) { return static_cast<std::size_t>(index); }

// A Peer is another pod, with what is sent to it and what comes from it.
struct Peer {
  int pod = 0;
  Bytes out = 0, in = 0;
};

// Returns the peers of each pod. What a pod sends to itself crosses no uplink.
std::vector<std::vector<Peer>> PeersOf(const Workload& workload) {
  std::vector<std::vector<Peer>> peers(At(workload.pods));
  const auto peer = [&peers](int pod, int other) -> Peer& {
    auto& of_pod = peers[At(pod)];
    const auto found = std::ranges::find(of_pod, other, &Peer::pod);
    return found != of_pod.end() ? *found : of_pod.emplace_back(Peer{.pod = other});
  };
  for (const Flow& flow : workload.flows) {
    if (flow.from == flow.to || flow.bytes == 0) continue;
    peer(flow.from, flow.to).out += flow.bytes;
    peer(flow.to, flow.from).in += flow.bytes;
  }
  return peers;
}

// A Seating is a mapping that is being made: some pods have seats. It knows the load of each uplink.
class Seating {
 public:
  Seating(const Workload& workload, const Fabric& fabric)
      : workload_(&workload),
        fabric_(&fabric),
        peers_(PeersOf(workload)),
        seat_of_(At(workload.pods), kNone),
        loads_(fabric.domains.size()) {
    for (std::size_t level = 0; level < loads_.size(); ++level) {
      const auto& domains = fabric.domains[level];
      loads_[level].resize(domains.empty() ? 0 : At(std::ranges::max(domains)) + 1);
    }
  }

  // Gives a pod that has none a seat that no pod has.
  void Seat(int pod, int seat) {
    seat_of_[At(pod)] = seat;
    for (const Peer& peer : peers_[At(pod)]) Count(peer, seat, /*add=*/true);
  }
  void Unseat(int pod) {
    const int seat = std::exchange(seat_of_[At(pod)], kNone);
    for (const Peer& peer : peers_[At(pod)]) Count(peer, seat, /*add=*/false);
  }
  void Exchange(int a, int b) {
    const int seat_of_a = seat_of_[At(a)], seat_of_b = seat_of_[At(b)];
    Unseat(a);
    Unseat(b);
    Seat(a, seat_of_b);
    Seat(b, seat_of_a);
  }

  // Returns what the pods that have seats cost so far. It only grows while further pods get seats.
  MappingCost Cost() const {
    MappingCost cost = CostWithRest();
    cost.resize(1 + loads_.size());
    return cost;
  }
  // Returns the cost, and behind it the sum of squares of each level's loads: of two mappings whose busiest
  // uplinks are equal, the one with less beside them is nearer to a better one.
  MappingCost CostWithRest() const {
    MappingCost cost(1 + 2 * loads_.size());
    cost[0] = Compute();
    for (std::size_t level = 0; level < loads_.size(); ++level) {
      double most = 0, sum = 0;
      for (std::size_t d = 0; d < loads_[level].size(); ++d) {
        const double load = Load(level, d);
        most = std::max(most, load);
        sum += load * load;
      }
      cost[1 + level] = most;
      cost[1 + loads_.size() + level] = sum;
    }
    return cost;
  }

  const std::vector<int>& seat_of() const { return seat_of_; }
  const std::vector<Peer>& peers(int pod) const { return peers_[At(pod)]; }
  int pods() const { return workload_->pods; }

  // Returns whether it makes no difference which pod has which of the two seats.
  bool Alike(int seat, int other) const {
    const auto same = [&](const auto& of_seats) { return of_seats[At(seat)] == of_seats[At(other)]; };
    const bool same_speed = fabric_->seat_speeds.empty() || same(fabric_->seat_speeds);
    return same_speed && std::ranges::all_of(fabric_->domains, same);
  }

 private:
  struct Crossing {
    Bytes out = 0, in = 0;
  };

  // Adds or removes the flows between a pod on `seat` and one of its peers, if that has a seat.
  void Count(const Peer& peer, int seat, bool add) {
    const int other = seat_of_[At(peer.pod)];
    if (other == kNone) return;
    for (std::size_t level = 0; level < loads_.size(); ++level) {
      const int here = fabric_->domains[level][At(seat)], there = fabric_->domains[level][At(other)];
      if (here == there) continue;
      const auto change = [add](Bytes& sum, Bytes bytes) { add ? sum += bytes : sum -= bytes; };
      change(loads_[level][At(here)].out, peer.out);
      change(loads_[level][At(here)].in, peer.in);
      change(loads_[level][At(there)].out, peer.in);
      change(loads_[level][At(there)].in, peer.out);
    }
  }

  double Load(std::size_t level, std::size_t domain) const {
    const Crossing& crossing = loads_[level][domain];
    const auto most = static_cast<double>(std::max(crossing.out, crossing.in));
    const auto& speeds = fabric_->speeds;
    return speeds.empty() || speeds[level].empty() ? most : most / speeds[level][domain];
  }

  double Compute() const {
    double slowest = 0;
    for (std::size_t pod = 0; pod < workload_->compute_s.size(); ++pod) {
      if (seat_of_[pod] == kNone) continue;
      const double speed = fabric_->seat_speeds.empty() ? 1 : fabric_->seat_speeds[At(seat_of_[pod])];
      slowest = std::max(slowest, workload_->compute_s[pod] / speed);
    }
    return slowest;
  }

  const Workload* workload_;
  const Fabric* fabric_;
  std::vector<std::vector<Peer>> peers_;
  std::vector<int> seat_of_;
  std::vector<std::vector<Crossing>> loads_;  // by level and domain
};

std::vector<int> IndexOrder(int pods) {
  std::vector<int> order(At(pods));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

Seating SeatingOf(const Workload& workload, const Fabric& fabric, const std::vector<int>& seat_of) {
  Seating seating(workload, fabric);
  for (int pod = 0; pod < workload.pods; ++pod) seating.Seat(pod, seat_of[At(pod)]);
  return seating;
}

// An ExactSearch gives the pods seats one by one, and turns back when the pods that have one already cost as
// much as the best mapping that is known.
class ExactSearch {
 public:
  ExactSearch(const Workload& workload, const Fabric& fabric)
      : seating_(workload, fabric),
        best_(IndexOrder(workload.pods)),
        cost_(CostOf(workload, fabric, best_)),
        is_taken_(At(workload.pods)) {
    Descend(0);
  }
  const std::vector<int>& best() const { return best_; }

 private:
  void Descend(int pod) {
    MappingCost cost = seating_.Cost();
    if (cost >= cost_) return;
    if (pod == seating_.pods()) {
      cost_ = std::move(cost);
      best_ = seating_.seat_of();
      return;
    }
    for (int seat = 0; seat < seating_.pods(); ++seat) {
      if (is_taken_[At(seat)] || IsLikeAnEarlierOne(seat)) continue;
      is_taken_[At(seat)] = true;
      seating_.Seat(pod, seat);
      Descend(pod + 1);
      seating_.Unseat(pod);
      is_taken_[At(seat)] = false;
    }
  }
  bool IsLikeAnEarlierOne(int seat) const {
    for (int earlier = 0; earlier < seat; ++earlier) {
      if (!is_taken_[At(earlier)] && seating_.Alike(seat, earlier)) return true;
    }
    return false;
  }

  Seating seating_;
  std::vector<int> best_;
  MappingCost cost_;
  std::vector<bool> is_taken_;  // by seat
};

// A Grouping gives pods that send much to each other seats of one domain, from the widest level on.
class Grouping {
 public:
  Grouping(const Workload& workload, const Fabric& fabric)
      : fabric_(&fabric), peers_(PeersOf(workload)), seat_of_(At(workload.pods), kNone) {
    Divide(0, IndexOrder(workload.pods), IndexOrder(workload.pods));
  }
  const std::vector<int>& seat_of() const { return seat_of_; }

 private:
  // Gives each of `pods` one of `seats`, which are in one domain of the level before.
  void Divide(std::size_t level, std::vector<int> pods, const std::vector<int>& seats) {
    if (level == fabric_->domains.size()) {
      for (std::size_t i = 0; i < pods.size(); ++i) seat_of_[At(pods[i])] = seats[i];
      return;
    }
    for (const std::vector<int>& of_domain : ByDomain(level, seats))
      Divide(level + 1, TakeGroup(of_domain.size(), &pods), of_domain);
  }

  // Returns the seats of each domain of a level, those of the largest domain first.
  std::vector<std::vector<int>> ByDomain(std::size_t level, const std::vector<int>& seats) const {
    std::vector<std::pair<int, std::vector<int>>> domains;
    for (const int seat : seats) {
      const int domain = fabric_->domains[level][At(seat)];
      const auto found = std::ranges::find(domains, domain, [](const auto& entry) { return entry.first; });
      if (found == domains.end())
        domains.push_back({domain, {seat}});
      else
        found->second.push_back(seat);
    }
    std::ranges::stable_sort(domains, std::ranges::greater(),
                             [](const auto& entry) { return entry.second.size(); });
    std::vector<std::vector<int>> sorted;
    for (auto& [domain, of_domain] : domains) sorted.push_back(std::move(of_domain));
    return sorted;
  }

  // Takes `count` of `pods` out, and returns them: the first one, and then always the one that exchanges most
  // with those taken.
  std::vector<int> TakeGroup(std::size_t count, std::vector<int>* pods) const {
    std::vector<int> group;
    std::vector<Bytes> exchanged(seat_of_.size());  // by pod, with those taken
    while (group.size() < count) {
      const auto most = std::ranges::max_element(*pods, {}, [&](int pod) { return exchanged[At(pod)]; });
      group.push_back(*most);
      pods->erase(most);
      for (const Peer& peer : peers_[At(group.back())]) exchanged[At(peer.pod)] += peer.out + peer.in;
    }
    std::ranges::sort(group);
    return group;
  }

  const Fabric* fabric_;
  std::vector<std::vector<Peer>> peers_;
  std::vector<int> seat_of_;
};

// Exchanges two pods as long as that helps.
void Climb(Seating* seating) {
  MappingCost cost = seating->CostWithRest();
  int tries = 0;
  for (bool better = true; better;) {
    better = false;
    for (int a = 0; a < seating->pods(); ++a) {
      for (int b = a + 1; b < seating->pods(); ++b) {
        if (seating->Alike(seating->seat_of()[At(a)], seating->seat_of()[At(b)])) continue;
        if (++tries > kMostExchanges) return;
        seating->Exchange(a, b);
        MappingCost found = seating->CostWithRest();
        if (found < cost) {
          cost = std::move(found);
          better = true;
        } else {
          seating->Exchange(a, b);
        }
      }
    }
  }
}

}  // namespace

MappingCost CostOf(const Workload& workload, const Fabric& fabric, const std::vector<int>& seat_of) {
  return SeatingOf(workload, fabric, seat_of).Cost();
}

std::vector<int> MapPods(const Workload& workload, const Fabric& fabric) {
  if (workload.pods <= kMostExact) return ExactSearch(workload, fabric).best();
  std::vector<int> best = IndexOrder(workload.pods);
  MappingCost cost = CostOf(workload, fabric, best);
  for (const std::vector<int>& first : {best, Grouping(workload, fabric).seat_of()}) {
    Seating seating = SeatingOf(workload, fabric, first);
    Climb(&seating);
    MappingCost found = seating.Cost();
    if (found >= cost) continue;
    cost = std::move(found);
    best = seating.seat_of();
  }
  return best;
}

}  // namespace crossover::placement
