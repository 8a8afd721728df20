#include "tests/unit/shrink/vote/world.h"

#include <utility>

namespace crossover::shrink::vote::test {
namespace {

// Budgets differ, so that one that is not the least is seen. That of rank 0 is not the least.
constexpr std::array<std::uint32_t, kMostVoters> kBudgets = {5, 7, 3, 6};

VoterPhase AsVoter(CollectorPhase phase) {
  switch (phase) {
    case CollectorPhase::kGathers:
      return VoterPhase::kWaits;
    case CollectorPhase::kNarrow:
      return VoterPhase::kNarrow;
    case CollectorPhase::kPlain:
      break;
  }
  return VoterPhase::kPlain;
}

// Ends a link where a process has closed it or died. What is on its way to the other end may still arrive.
void End(Link* link) { link->broken = link->broken || link->connected; }

void SendToRank(Link* link, Message message) {
  if (link->broken) return;
  link->to_rank[link->to_rank[0] == Message::kNone ? 0 : 1] = message;
}

}  // namespace

Options Options::WithFaults() const {
  Options all = *this;
  all.losses = all.send_failures = all.deaths = all.stops = all.unreachable = true;
  all.collector_limit = all.voter_limits = true;
  return all;
}

// Makes the steps from one state.
class Model::Steps {
 public:
  Steps(const Model& model, const World& world, const std::function<void(const World&)>& visit)
      : model_(model), options_(model.options_), world_(world), visit_(visit) {}

  bool Make() {
    if (model_.HasFile(0) && world_.collector_runs) {
      MakeFaultsOfCollector();
      MakeLimitOfCollector();
      MakeImpostor();
    }
    for (std::uint32_t rank = 1; rank < options_.ranks; ++rank) {
      if (!model_.HasFile(rank)) continue;
      if (!HasEnded(rank)) {
        MakeFaults(rank);
        MakeRank(rank);
      }
      if (world_.collector_runs) MakeCollector(rank);
    }
    return progress_;
  }

 private:
  void Fault(World next) {
    Forget(&next);
    visit_(next);
  }
  void Progress(const World& next) {
    progress_ = true;
    Fault(next);
  }

  bool IsBad(BadRule rule) const { return options_.bad == rule; }
  bool HasEnded(std::uint32_t rank) const { return vote::HasEnded(world_.voter[rank].phase); }

  // Sets what no later step reads to one value, so that states that differ in it alone are one.
  void Forget(World* next) const {
    const bool decided = IsDecided(next->collector.phase);
    if (decided || !next->collector_runs) {
      next->seats = {};
      next->collector.counted = 1;
    }
    for (std::uint32_t rank = 1; rank < options_.ranks; ++rank) {
      Link& link = next->link[rank];
      const bool told = decided && link.told && !IsBad(BadRule::kChangesItsMind);
      if (!next->collector_runs || told) link.closed = true;
      if (link.closed) {
        link.greeted = link.counted = link.told = false;
        link.to_collector = Message::kNone;
      }
      if (vote::HasEnded(next->voter[rank].phase)) {
        link.to_rank = {};
        link.unsent = false;
        link.budget = 0;
        if (link.closed || !link.connected) link = {.connected = true, .broken = true, .closed = true};
      }
    }
  }

  void MakeFaultsOfCollector() {
    if (options_.stops) {
      World next = world_;
      next.collector_runs = false;
      Fault(next);
    }
    if (!options_.deaths) return;
    World next = world_;
    next.collector_runs = false;
    next.collector_dead = true;
    for (Link& link : next.link) End(&link);
    Fault(next);
  }

  void MakeFaults(std::uint32_t rank) {
    World next = world_;
    next.voter[rank].phase = VoterPhase::kFailed;
    if (options_.stops) Fault(next);
    End(&next.link[rank]);
    if (options_.deaths) Fault(next);
    const Link& link = world_.link[rank];
    if (!options_.losses || !link.connected || link.broken) return;
    next = world_;
    next.link[rank].broken = true;
    Fault(next);
  }

  // Does what a rank does once it has ended.
  static void CloseIfEnded(World* next, std::uint32_t rank) {
    if (!vote::HasEnded(next->voter[rank].phase)) return;
    End(&next->link[rank]);
  }

  void MakeRank(std::uint32_t rank) {
    const Link& link = world_.link[rank];
    const VoterPhase phase = world_.voter[rank].phase;
    if (!link.connected) MakeConnect(rank);
    if (link.to_rank[0] != Message::kNone) MakeHear(rank);
    if (link.unsent)
      MakeEvent(
          rank, [](Voter& voter) { voter.FailToSend(); }, IsBad(BadRule::kPlainWhenSendFails));
    if (link.broken)
      MakeEvent(
          rank, [](Voter& voter) { voter.Lose(); }, IsBad(BadRule::kPlainWhenLost));
    const bool unlimited = IsBad(BadRule::kNoLimitOfVoters) && phase == VoterPhase::kWaits;
    if (options_.voter_limits && !unlimited)
      MakeEvent(
          rank, [](Voter& voter) { voter.EndTime(); }, IsBad(BadRule::kPlainAtTimeLimit));
  }

  template <class Event>
  void MakeEvent(std::uint32_t rank, Event event, bool plain) {
    World next = world_;
    Voter& voter = next.voter[rank];
    event(voter);
    if (plain && voter.phase == VoterPhase::kFailed) voter.phase = VoterPhase::kPlain;
    CloseIfEnded(&next, rank);
    Progress(next);
  }

  void MakeConnect(std::uint32_t rank) {
    const bool listens = !world_.collector_dead && model_.HasFile(0) && !IsDecided(world_.collector.phase);
    if (listens) {
      World next = world_;
      next.link[rank].connected = true;
      Progress(next);
    }
    if (listens && !options_.unreachable) return;
    World next = world_;
    next.voter[rank].Unreachable();
    CloseIfEnded(&next, rank);
    if (listens) return Fault(next);
    Progress(next);
  }

  void MakeHear(std::uint32_t rank) {
    World next = world_;
    Link& link = next.link[rank];
    Voter& voter = next.voter[rank];
    const Message message = link.to_rank[0];
    link.to_rank = {link.to_rank[1], Message::kNone};
    Voter::Step step;
    if (message == Message::kGreeting) {
      const bool other = options_.kinds[rank] == Kind::kOtherVersion;
      step = voter.Hear(Greeting{kVersion + (other ? 1 : 0)});
    } else {
      Verdict verdict;
      verdict.rank = rank;
      verdict.choice = message == Message::kNarrow ? Choice::kNarrow : Choice::kPlain;
      verdict.codec = voter.own->proposal.codec;
      verdict.level = voter.own->proposal.level;
      verdict.budget_mib = link.budget;
      step = voter.Hear(verdict);
    }
    if (step.act == Voter::Act::kSayHello) return MakeHello(next, rank);
    if (step.act != Voter::Act::kNothing && !link.broken) link.to_collector = Message::kNo;
    CloseIfEnded(&next, rank);
    Progress(next);
  }

  void MakeHello(const World& said, std::uint32_t rank) {
    World next = said;
    Link& link = next.link[rank];
    if (!link.broken) link.to_collector = Message::kHello;
    Progress(next);
    if (!options_.send_failures) return;
    link.unsent = true;
    Fault(next);
    link.to_collector = Message::kNone;
    Fault(next);
  }

  void MakeCollector(std::uint32_t rank) {
    const Link& link = world_.link[rank];
    if (!link.connected || link.closed) return;  // nothing more to do
    const bool decided = IsDecided(world_.collector.phase);
    if (!link.greeted) {
      World next = world_;
      if (decided) {
        Close(&next.link[rank]);
      } else {
        next.link[rank].greeted = true;
        SendToRank(&next.link[rank], Message::kGreeting);
      }
      Progress(next);
    }
    if (link.greeted && link.to_collector != Message::kNone) MakeCollectorHear(rank);
    if (link.greeted && link.broken) MakeCollectorLose(rank);
    if (link.greeted && decided && !link.told) MakeTell(rank);
  }

  static void Close(Link* link) {
    link->broken = link->closed = true;
    link->to_collector = Message::kNone;
  }

  void MakeCollectorHear(std::uint32_t rank) {
    World next = world_;
    Link& link = next.link[rank];
    Collector& collector = next.collector;
    const Message message = std::exchange(link.to_collector, Message::kNone);
    if (message == Message::kNo && !IsBad(BadRule::kCountsNo)) {
      const Collector::Step step = collector.Hear(No{model_.hello_[rank].id, rank, 1});
      if (step.act == Collector::Act::kClose) Close(&link);
      return Progress(next);
    }
    Hello hello = model_.hello_[rank];
    if (message == Message::kNo) hello.proposal = model_.hello_[0].proposal;
    const Collector::Act act = Hear(&next, hello);
    if (act == Collector::Act::kCount) link.counted = true;
    if (act == Collector::Act::kTellAll && collector.phase == CollectorPhase::kNarrow) link.counted = true;
    if (act == Collector::Act::kClose) Close(&link);
    Progress(next);
  }

  // Lets rank 0 hear a hello.
  Collector::Act Hear(World* next, const Hello& hello) {
    Collector& collector = next->collector;
    Seat& seat = next->seats[hello.rank];
    if (IsBad(BadRule::kCountsTwice) && !IsDecided(collector.phase)) seat = Seat::kSilent;
    const Collector::Step step = collector.Hear(hello, std::span(next->seats).first(options_.ranks));
    if (IsBad(BadRule::kNarrowByMajority) && 2 * collector.counted > options_.ranks &&
        !IsDecided(collector.phase))
      collector.phase = CollectorPhase::kNarrow;
    return step.act;
  }

  void MakeCollectorLose(std::uint32_t rank) {
    World next = world_;
    Link& link = next.link[rank];
    link.closed = true;
    link.to_collector = Message::kNone;
    if (link.counted) next.collector.Lose(rank);
    if (link.counted && IsBad(BadRule::kChangesItsMind)) next.collector.phase = CollectorPhase::kPlain;
    Progress(next);
  }

  void MakeTell(std::uint32_t rank) {
    World next = world_;
    Link& link = next.link[rank];
    const bool narrow = next.collector.phase == CollectorPhase::kNarrow;
    if (!link.counted && (narrow || IsBad(BadRule::kClosesUnread))) {
      Close(&link);
      return Progress(next);
    }
    link.told = true;
    if (options_.send_failures) {
      World failed = next;
      Close(&failed.link[rank]);
      Fault(failed);
    }
    const Verdict verdict = next.collector.VerdictFor(rank, {});
    SendToRank(&link, narrow ? Message::kNarrow : Message::kPlain);
    const std::uint32_t budget =
        IsBad(BadRule::kBudgetOfEach) ? model_.hello_[rank].proposal.budget_mib : verdict.budget_mib;
    link.budget = static_cast<std::uint8_t>(budget);
    if (options_.send_failures) {  // the send fails, and the verdict arrives all the same
      World failed = next;
      Close(&failed.link[rank]);
      Fault(failed);
    }
    Progress(next);
  }

  void MakeLimitOfCollector() {
    if (!options_.collector_limit || IsDecided(world_.collector.phase)) return;
    if (IsBad(BadRule::kNoLimitOfTheCollector)) return;
    World next = world_;
    next.collector.EndTime(std::span(next.seats).first(options_.ranks));
    if (IsBad(BadRule::kNarrowAtTimeLimit)) next.collector.phase = CollectorPhase::kNarrow;
    Progress(next);
  }

  void MakeImpostor() {
    if (options_.impostor == 0 || world_.impostor_spoke || IsDecided(world_.collector.phase)) return;
    World next = world_;
    next.impostor_spoke = true;
    Hear(&next, model_.hello_[options_.impostor]);
    Fault(next);
  }

  const Model& model_;
  const Options& options_;
  const World& world_;
  const std::function<void(const World&)>& visit_;
  bool progress_ = false;
};

Model::Model(const Options& options) : options_(options), hello_() {
  for (std::uint32_t rank = 0; rank < kMostVoters; ++rank) {
    Hello& hello = hello_[rank];
    hello.id.fill(9);
    hello.ranks = options_.ranks;
    hello.rank = rank;
    const bool other = options_.kinds[rank] == Kind::kOtherCodec;
    hello.proposal = {1, other ? Codec::kQ8 : Codec::kBf16, 16, kBudgets[rank]};
  }
}

World Model::Start() const {
  const auto voter = [this](std::uint32_t rank) {
    return Voter(&hello_[rank], options_.kinds[rank] != Kind::kNotReady);
  };
  return World{.collector = Collector(&hello_[0]), .voter = {voter(0), voter(1), voter(2), voter(3)}};
}

bool Model::ForEachNext(const World& world, const std::function<void(const World&)>& visit) const {
  return Steps(*this, world, visit).Make();
}

VoterPhase Model::PhaseOf(const World& world, std::uint32_t rank) const {
  if (!HasFile(rank)) return VoterPhase::kPlain;
  if (rank != 0) return world.voter[rank].phase;
  const VoterPhase phase = AsVoter(world.collector.phase);
  return phase == VoterPhase::kWaits && !world.collector_runs ? VoterPhase::kFailed : phase;
}

std::uint32_t Model::BudgetOf(const World& world, std::uint32_t rank) const {
  return rank == 0 ? world.collector.budget_mib : world.voter[rank].budget_mib;
}

}  // namespace crossover::shrink::vote::test
