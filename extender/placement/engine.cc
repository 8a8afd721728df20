#include "extender/placement/engine.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include "extender/placement/allocator.h"
#include "extender/placement/pairing.h"
#include "extender/placement/preempt.h"
#include "extender/placement/queue.h"

namespace crossover::placement {
namespace {

using Gangs = std::vector<const Gang*>;

// A Round makes one decision.
class Round {
 public:
  Round(const State& state, double now_s, const Context& context)
      : context_(context), now_s_(now_s), allocator_(Occupancy(state), context) {}

  Decision Run(const std::vector<Gang>& waiting) {
    std::map<std::int32_t, Gangs, std::greater<>> ranks;
    for (const Gang* gang : Sound(waiting)) ranks[gang->rank].push_back(gang);
    // The lower ranks are served afterwards, so what a rank gets does not depend on them.
    for (const auto& [rank, gangs] : ranks) {
      const bool roomy = context_.settings.sharing == Sharing::kWhenFull && PlaceAllAlone(gangs);
      if (!roomy) Place(gangs);
    }
    for (const Step& step : allocator_.steps()) decision_.plans.push_back(PlanOf(step));
    return std::move(decision_);
  }

 private:
  Queue QueueOf(const Gangs& waiting) const {
    return {allocator_.occupancy(), waiting, now_s_, context_.settings};
  }

  // Returns the gangs that are well formed and listed once, and refuses the others.
  Gangs Sound(const std::vector<Gang>& waiting) {
    Gangs sound;
    std::set<std::string_view> seen;
    for (const Gang& gang : waiting) {
      std::string fault = Malformed(gang);
      if (fault.empty() && (!seen.insert(gang.id).second || allocator_.occupancy().Holds(gang.id))) {
        fault = "it is there twice";
      }
      if (fault.empty()) {
        sound.push_back(&gang);
      } else {
        decision_.refusals.push_back({gang.id, Reason::kMalformed, fault});
      }
    }
    return sound;
  }

  // Gives every gang of a rank free GPUs of its own. Returns false and changes nothing if they do not
  // suffice.
  bool PlaceAllAlone(const Gangs& waiting) {
    long needed = 0;
    for (const Gang* gang : waiting) needed += gang->gpus();
    if (needed > allocator_.occupancy().free_gpus()) return false;
    Allocator trial = allocator_;
    Queue queue = QueueOf(waiting);
    while (const Gang* gang = queue.Next()) {
      if (!trial.Open(*gang)) return false;
      queue.Charge(*gang);
    }
    allocator_ = std::move(trial);
    return true;
  }

  void Place(const Gangs& waiting) {
    const Gangs patient = PlaceStarving(waiting);
    const Gangs rest = PlaceMatched(patient);
    Queue queue = QueueOf(rest);
    while (const Gang* gang = queue.Next()) {
      if (allocator_.JoinBest(*gang)) {
        queue.Charge(*gang);
      } else {
        Refuse(*gang);
      }
    }
  }

  // Serves the gangs that have waited for too long, the oldest first: each gets free GPUs, or else joins the
  // group to which it adds most. Stops when one of them finds nothing and GPUs are kept for it. Returns the
  // gangs that it did not serve. PlaceMatched() then matches them by gain, on the GPUs that remain.
  Gangs PlaceStarving(const Gangs& waiting) {
    Gangs others;
    Queue queue = QueueOf(waiting);
    while (const Gang* gang = queue.Next()) {
      if (decision_.kept || !queue.Starves(*gang)) {
        others.push_back(gang);
      } else if (!allocator_.Open(*gang) && !allocator_.JoinBest(*gang)) {
        if (!Refuse(*gang)) KeepFor(*gang, queue.MayBeBusy(*gang));
      }
    }
    return others;
  }

  // Refuses a gang that finds no place. Returns whether gangs of lower rank leave for it.
  bool Refuse(const Gang& gang) {
    Refusal refusal = Explain(allocator_.occupancy(), gang, context_);
    const bool leave = MayFindRoom(refusal.reason) && !decision_.preemption && Preempt(gang);
    if (leave) refusal = ExplainRoom(gang, decision_.preemption->victims.size());
    decision_.refusals.push_back(std::move(refusal));
    return leave;
  }

  // Returns whether the gang could have a place if fewer gangs had GPUs.
  static bool MayFindRoom(Reason reason) {
    return reason == Reason::kFull || reason == Reason::kScattered || reason == Reason::kKept;
  }

  // Chooses gangs of lower rank that leave, and claims the place that they make. Returns false if there is no
  // such place.
  bool Preempt(const Gang& gang) {
    const State& state = allocator_.occupancy().state();
    const std::vector<Candidate> candidates = CandidatesFor(state, gang, now_s_);
    const auto choice = ChooseVictims(allocator_.occupancy(), gang, candidates, context_);
    if (!choice) return false;
    Preemption preemption{.gang = gang.id,
                          .victims = IdsOf(choice->victims),
                          .seats = SeatsOn(state, choice->place.gpus, gang.gpus_per_pod),
                          .beside = IdsOf(choice->place.beside)};
    allocator_.Claim(gang, choice->place.gpus);
    decision_.preemption = std::move(preemption);
    return true;
  }

  static std::vector<std::string> IdsOf(const Gangs& gangs) {
    std::vector<std::string> ids;
    for (const Gang* gang : gangs) ids.push_back(gang->id);
    return ids;
  }

  void KeepFor(const Gang& gang, double busy_part) {
    const std::vector<GpuRef> gpus = allocator_.Keep(gang, busy_part);
    if (gpus.empty()) return;
    const int any = static_cast<int>(gpus.size());
    decision_.kept = Reserved{gang.id, SeatsOn(allocator_.occupancy().state(), gpus, any)};
  }

  // Serves the gangs in the order of the queue, each together with its partner. Returns those that got
  // nothing.
  Gangs PlaceMatched(const Gangs& waiting) {
    const std::map<const Gang*, Partner> partners = Match(waiting);
    Gangs rest;
    Queue queue = QueueOf(waiting);
    while (const Gang* gang = queue.Next()) {
      const auto found = partners.find(gang);
      const Partner partner = found == partners.end() ? Partner{} : found->second;
      const bool joined = partner.group >= 0 && allocator_.Join(*gang, partner.group);
      if (!joined && !OpenWith(*gang, partner.gang, queue)) {
        rest.push_back(gang);
      } else {
        queue.Charge(*gang);
      }
    }
    return rest;
  }

  bool OpenWith(const Gang& gang, const Gang* partner, Queue& queue) {
    if (partner != nullptr && allocator_.Open(gang, partner)) {
      if (allocator_.Join(*partner, allocator_.last())) {
        queue.Take(*partner);
        queue.Charge(*partner);
      }
      return true;
    }
    return allocator_.Open(gang);
  }

  // Returns the best partner of each gang, among gangs with as many GPUs. Two waiting gangs are matched only
  // if enough GPUs are free for their set.
  std::map<const Gang*, Partner> Match(const Gangs& waiting) const {
    std::map<int, Gangs> by_count;
    for (const Gang* gang : waiting) by_count[gang->gpus()].push_back(gang);
    std::map<const Gang*, Partner> partners;
    for (const auto& [count, gangs] : by_count) {
      const bool pairs = count <= allocator_.occupancy().free_gpus();
      partners.merge(ChoosePartners(allocator_.occupancy(), gangs, pairs, context_));
    }
    return partners;
  }

  Plan PlanOf(const Step& step) const {
    Plan plan{.gang = step.gang->id,
              .seats = SeatsOn(allocator_.occupancy().state(), step.gpus, step.gang->gpus_per_pod),
              .beside = IdsOf(step.beside),
              .prediction = step.prediction};
    return plan;
  }

  Context context_;
  double now_s_;
  Allocator allocator_;
  Decision decision_;
};

}  // namespace

Decision Decide(const State& state, const std::vector<Gang>& waiting, double now_s, const Settings& settings,
                const Fitness& fitness) {
  const History history(state.observed);
  return Round(state, now_s, Context{history, settings, fitness}).Run(waiting);
}

}  // namespace crossover::placement
