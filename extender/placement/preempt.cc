#include "extender/placement/preempt.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace crossover::placement {
namespace {

// A Guess is a set of gangs that may leave. The smaller its Rank(), the better.
struct Guess {
  Who who;
  double cost = 0;
  auto Rank() const { return std::tuple<std::size_t, double, const Who&>(who.size(), cost, who); }
};

bool IsBetter(const Guess& a, const Guess& b) { return a.Rank() < b.Rank(); }

// Returns each subset of `things`, the empty one among them.
std::vector<Who> SubsetsOf(const Who& things) {
  std::vector<Who> subsets{{}};
  for (const std::size_t thing : things) {
    for (std::size_t s = subsets.size(); s-- > 0;) {
      subsets.push_back(subsets[s]);
      subsets.back().push_back(thing);
    }
  }
  return subsets;
}

class Search {
 public:
  Search(const Occupancy& occupancy, const Gang& gang, std::span<const Candidate> candidates,
         const Context& context, const Effort& effort)
      : occupancy_(occupancy), gang_(gang), context_(context), effort_(effort) {
    const std::set<int> nodes = UsableNodes();
    std::set<const Gang*> there;
    for (const Group& group : occupancy.groups()) {
      const auto usable = [&](const OnNode& on) { return nodes.contains(on.node); };
      if (std::ranges::any_of(group.by_node, usable)) there.insert(group.gangs.begin(), group.gangs.end());
    }
    for (const Candidate& candidate : candidates) {
      if (!there.contains(candidate.gang)) continue;
      index_[candidate.gang] = candidates_.size();
      candidates_.push_back(candidate);
    }
    counting_.emplace(occupancy_, gang_, candidates_, context_);
  }

  std::optional<Choice> Run() {
    if (candidates_.empty()) return std::nullopt;
    const std::vector<Guess> joins = Joins();
    may_join_ = !joins.empty();
    const std::optional<Step> free = OnFreeGpus(Everybody());
    if (!free && !may_join_) return std::nullopt;
    if (IsSmall()) {
      TryAll();
    } else {
      TryFirst(joins);
      if (free) TryFreeing(*free);
    }
    if (!place_) return std::nullopt;
    Choice choice{.victims = GangsOf(best_.who), .place = std::move(*place_)};
    return choice;
  }

 private:
  // Returns the nodes that could take a pod of the gang some day.
  std::set<int> UsableNodes() const {
    std::set<int> nodes;
    for (int n = 0; n < static_cast<int>(occupancy_.state().nodes.size()); ++n) {
      const Node& node = occupancy_.node(n);
      if (!node.open || static_cast<int>(node.gpus.size()) < gang_.gpus_per_pod) continue;
      if (!context_.fitness(gang_, n, occupancy_.planned(n)).never()) nodes.insert(n);
    }
    return nodes;
  }

  bool IsSmall() const {
    std::size_t gpus = 0;
    for (const Node& node : occupancy_.state().nodes) gpus += node.gpus.size();
    return candidates_.size() <= effort_.candidates && (gpus << candidates_.size()) <= effort_.work;
  }

  Who Everybody() const {
    Who who(candidates_.size());
    std::iota(who.begin(), who.end(), 0);
    return who;
  }

  std::vector<const Gang*> GangsOf(const Who& who) const {
    std::vector<const Gang*> gangs;
    for (const std::size_t c : who) gangs.push_back(candidates_[c].gang);
    return gangs;
  }

  Guess GuessOf(Who who) const {
    Guess guess{.who = std::move(who)};
    std::ranges::sort(guess.who);
    for (const std::size_t c : guess.who) guess.cost += candidates_[c].cost;
    return guess;
  }

  Allocator WithoutThem(const Who& who) const {
    Occupancy rest = occupancy_;
    rest.Remove(GangsOf(who));
    return {std::move(rest), context_};
  }

  // Returns whether free GPUs could suffice once these have left. Most guesses end here.
  bool MayBeFree(const Who& who) const { return counting_->PodsAtMost(who) >= gang_.pods; }

  // Returns free GPUs that the gang gets once these have left, or nothing.
  std::optional<Step> OnFreeGpus(const Who& who) const {
    if (!MayBeFree(who)) return std::nullopt;
    Allocator allocator = WithoutThem(who);
    if (!allocator.Open(gang_)) return std::nullopt;
    return allocator.steps().back();
  }

  // Returns what the gang gets once these have left: free GPUs, or else those of a group; or nothing.
  std::optional<Step> Without(const Who& who) const {
    if (!may_join_ && !MayBeFree(who)) return std::nullopt;
    Allocator allocator = WithoutThem(who);
    if (!allocator.Open(gang_) && !allocator.JoinBest(gang_)) return std::nullopt;
    return allocator.steps().back();
  }

  // Makes this guess the answer if it is better than the last one and gives the gang a place. Returns whether
  // it did.
  bool Consider(Guess guess) {
    if (guess.who.empty() || (place_ && !IsBetter(guess, best_))) return false;
    std::optional<Step> place = Without(guess.who);
    if (!place) return false;
    best_ = std::move(guess);
    place_ = std::move(place);
    return true;
  }

  void TryAll() {
    std::vector<Guess> guesses;
    for (Who& who : SubsetsOf(Everybody())) guesses.push_back(GuessOf(std::move(who)));
    std::ranges::sort(guesses, IsBetter);
    for (Guess& guess : guesses) {
      if (Consider(std::move(guess))) return;
    }
  }

  // Returns who of a group could leave so that the rules permit the gang to share with the others. The best
  // come first: there, if something else forbids it, all of a group may stay.
  std::vector<Guess> Joins() const {
    std::vector<Guess> joins;
    for (const Group& group : occupancy_.groups()) {
      if (static_cast<int>(group.gpus.size()) == gang_.gpus()) AddJoins(group, &joins);
    }
    std::ranges::sort(joins, IsBetter);
    return joins;
  }

  void AddJoins(const Group& group, std::vector<Guess>* joins) const {
    constexpr std::size_t kMostOfGroup = 8;
    Who there;
    for (const Gang* gang : group.gangs) {
      const auto found = index_.find(gang);
      if (found != index_.end() && there.size() < kMostOfGroup) there.push_back(found->second);
    }
    for (Who& who : SubsetsOf(there)) {
      std::vector<const Gang*> stay = group.gangs;
      std::erase_if(stay, [&](const Gang* gang) {
        return std::ranges::any_of(who, [&](std::size_t c) { return candidates_[c].gang == gang; });
      });
      if (stay.empty()) continue;  // then the GPUs are free
      if (FirstViolation({stay, gang_, group.site, context_.history, context_.settings})) continue;
      joins->push_back(GuessOf(std::move(who)));
    }
  }

  // Tries the best of `guesses` until one gives a place.
  void TryFirst(const std::vector<Guess>& guesses) {
    std::size_t left = 64;
    for (const Guess& guess : guesses) {
      if (guess.who.empty()) continue;
      if (left-- == 0 || Consider(guess)) return;
    }
  }

  // Tries to free enough GPUs: those that cost least by counting, and those that the gang would get if all
  // candidates left, which are `free`.
  void TryFreeing(const Step& free) {
    if (const auto who = counting_->Cheapest()) Prune(*who);
    const auto is_taken = [&](GpuRef ref) { return std::ranges::binary_search(free.gpus, ref); };
    const auto is_near = [&](GpuRef ref) {
      return std::ranges::any_of(free.gpus, [&](GpuRef taken) { return taken.node == ref.node; });
    };
    // The second guess is for a gang that needs more of a node than its GPUs, such as CPUs.
    if (!Prune(WhoIsOn(is_taken)) && !Prune(WhoIsOn(is_near))) Prune(Everybody());
  }

  template <typename Which>
  Who WhoIsOn(Which which) const {
    Who who;
    for (const Group& group : occupancy_.groups()) {
      if (std::ranges::none_of(group.gpus, which)) continue;
      for (const Gang* gang : group.gangs) {
        const auto found = index_.find(gang);
        if (found != index_.end()) who.push_back(found->second);
      }
    }
    std::ranges::sort(who);
    return who;
  }

  // Lets as many of these stay as can, the dearest first, and considers what remains. Returns false if the
  // gang finds no place even if all of them leave.
  bool Prune(Who who) {
    if (who.empty() || !Without(who)) return false;
    std::ranges::sort(who, [&](std::size_t a, std::size_t b) {
      return std::pair(candidates_[a].cost, a) > std::pair(candidates_[b].cost, b);
    });
    std::size_t many = who.size() / 2;
    while (many > 0) {
      const bool some = Spare(many, &who);
      if (many > 1 || !some) many /= 2;
    }
    Consider(GuessOf(std::move(who)));
    return true;
  }

  // Lets each `many` of these in a row stay if the gang still finds a place. Returns whether any may.
  bool Spare(std::size_t many, Who* who) const {
    bool some = false;
    for (std::size_t at = 0; at + many <= who->size() && many < who->size();) {
      Who fewer = *who;
      const auto from = fewer.begin() + static_cast<std::ptrdiff_t>(at);
      fewer.erase(from, from + static_cast<std::ptrdiff_t>(many));
      if (Without(fewer)) {
        *who = std::move(fewer);
        some = true;
      } else {
        at += many;
      }
    }
    return some;
  }

  const Occupancy& occupancy_;
  const Gang& gang_;
  const Context& context_;
  const Effort effort_;
  bool may_join_ = false;              // there is a group that the gang could join if some gangs had left
  std::vector<Candidate> candidates_;  // candidates that can matter
  std::map<const Gang*, std::size_t> index_;
  std::optional<Counting> counting_;  // refers to `candidates_`
  Guess best_;
  std::optional<Step> place_;  // what `best_` gives; nothing: no guess was good yet
};

std::size_t GpusOf(const Placed& placed) {
  std::size_t gpus = 0;
  for (const Seat& seat : placed.seats) gpus += seat.gpus.size();
  return gpus;
}

}  // namespace

std::vector<Candidate> CandidatesFor(const State& state, const Gang& gang, double now_s) {
  std::vector<Candidate> candidates;
  if (!gang.preempts) return candidates;
  for (const Placed& placed : state.placed) {
    const std::size_t gpus = GpusOf(placed);
    if (placed.leave != Leave::kMay || placed.gang.rank >= gang.rank || gpus == 0) continue;
    const double ran_s = placed.started_s ? std::max(0.0, now_s - *placed.started_s) : 0;
    candidates.push_back({&placed.gang, static_cast<double>(gpus) * ran_s});
  }
  std::ranges::sort(candidates, {}, [](const Candidate& candidate) { return candidate.gang->id; });
  return candidates;
}

std::optional<Choice> ChooseVictims(const Occupancy& occupancy, const Gang& gang,
                                    std::span<const Candidate> candidates, const Context& context,
                                    const Effort& effort) {
  return Search(occupancy, gang, candidates, context, effort).Run();
}

}  // namespace crossover::placement
