#include "tests/unit/turn/explorer.h"

#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/unit/turn/explorer_arbiter.h"
#include "tests/unit/turn/explorer_client.h"
#include "tests/unit/turn/explorer_signaller.h"
#include "tests/unit/turn/explorer_world.h"

namespace crossover::turn::test {
namespace {

enum class Action : std::uint8_t {
  kStart,
  kClient,
  kKill,
  kLate,
  kNotice,
  kPass,
  kPreemptingPass,
  kSuspend,
  kReadmit,
  kArbiter,
  kArbiterDies,
  kOpensOwn,
  kLand,
  kLook,
  kSignaller,
  kSignallerDies,
  kWoken
};
constexpr const char* kActionNames[] = {"start",
                                        "client",
                                        "kill",
                                        "late write of",
                                        "notice",
                                        "pass, want",
                                        "pass that preempts, want",
                                        "suspend",
                                        "readmit",
                                        "arbiter, access",
                                        "arbiter dies, access",
                                        "opens its own gate: client",
                                        "a signal lands, of client",
                                        "signaller looks at",
                                        "signaller, access",
                                        "signaller dies, access",
                                        "signaller signals the gates that a CPU opened:"};

// A Step says how a state was reached. Fail() follows the steps back to print the way to a fault.
struct Step {
  std::uint32_t before;
  Action action;
  std::uint8_t who;
};

ExplorerOptions WithLateSignals(ExplorerOptions options) {
  options.late_signals = true;
  return options;
}

class Explorer {
 public:
  explicit Explorer(const ExplorerOptions& options)
      : options_(options), clients_(options), late_clients_(WithLateSignals(options)) {}

  ExplorerResult Run() {
    World start;
    start.members = static_cast<std::uint8_t>((1u << options_.clients) - 1);
    start.gates_copied = options_.bad_gate_copy;
    start.signals_kept = options_.signals == Signals::kKept;
    start.wakes_noted = start.signals_kept && options_.signaller == Signaller::kWakes;
    Push(start, Action::kStart, 0);
    while (!stack_.empty() && !result_.fault) {
      const World world = stack_.back().first;
      current_ = stack_.back().second;
      stack_.pop_back();
      Check(world);
      Expand(world);
      if (visited_.size() > options_.max_states) {
        result_.complete = false;
        break;
      }
    }
    result_.states = visited_.size();
    return result_;
  }

 private:
  void Push(const World& world, Action action, std::uint32_t who) {
    if (!visited_.insert(HashOf(world, options_.clients)).second) return;
    stack_.emplace_back(world, static_cast<std::uint32_t>(steps_.size()));
    steps_.push_back({current_, action, static_cast<std::uint8_t>(who)});
  }

  void Check(const World& world) {
    int inside = 0;
    for (SlotIndex i = 0; i < options_.clients; ++i) inside += clients_.InTurn(world, i);
    if (inside > 1 && !world.excused) Fail(world, "two clients hold the turn");
    if (!world.in_pass && world.look.state == Look::State::kRests) FollowFairly(world);
  }

  void Fail(const World& world, const char* what) {
    std::string text = what;
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      const Client& c = world.client[i];
      text += "\n  client " + std::to_string(i) + ": turn " + std::to_string(c.turn) + " phase " +
              std::to_string(static_cast<int>(c.phase)) + " step " + std::to_string(c.step) +
              (c.alive ? "" : " dead") + ", ready hold rel gate";
      for (std::uint32_t word : world.word[i]) text += " " + std::to_string(word);
      if (world.signals_kept) text += (world.come >> i & 1) != 0 ? ", signalled" : ", not signalled";
    }
    text += world.token.in_pocket() ? "\n  token in the pocket" : "";
    std::string path;
    for (std::uint32_t at = current_; steps_[at].action != Action::kStart; at = steps_[at].before) {
      path = "\n  " + std::string(kActionNames[static_cast<int>(steps_[at].action)]) + " " +
             std::to_string(steps_[at].who) + path;
    }
    text += path;
    if (!result_.fault) result_.fault = text;
  }

  // ---- clients

  void ExpandClient(const World& world, SlotIndex i) {
    if (!clients_.CanStep(world, i)) return;
    if (!ClientProgram::Chooses(world, i)) {
      World next = world;
      clients_.Advance(&next, i);
      Push(next, Action::kClient, i);
      return;
    }
    if (world.client[i].yields < options_.yields) {
      World next = world;
      clients_.BeginYield(&next, i);
      Push(next, Action::kClient, i);
    }
    for (SlotIndex successor = 0; successor < options_.clients; ++successor) {
      World next = world;
      clients_.Bake(&next, i, successor);
      clients_.Advance(&next, i);
      Push(next, Action::kClient, i);
    }
  }

  void Kill(World* world, SlotIndex i) const {
    Client& c = world->client[i];
    c.alive = false;
    ++world->kills;
    if (options_.late_writes && clients_.Writes(*world, i)) {
      c.late = true;
      if (ClientProgram::Chooses(*world, i)) clients_.Bake(world, i, (i + 1) % options_.clients);
    }
    if (options_.bad_exported_gates && i == 0) {
      world->gates_gone = true;
      for (auto& words : world->word) words[static_cast<int>(Word::kGate)] = 0;
    }
  }

  void ExpandFaults(const World& world, SlotIndex i) {
    const Client& c = world.client[i];
    if (c.alive && world.kills < options_.kills && c.turn <= options_.turns) {
      World next = world;
      Kill(&next, i);
      Push(next, Action::kKill, i);
    }
    if (c.late) {
      World next = world;
      clients_.WriteLate(&next, i);
      next.excused = true;
      Push(next, Action::kLate, i);
    }
    if (!c.alive && !world.in_pass && (world.members >> i & 1)) {
      World next = world;
      next.members = static_cast<std::uint8_t>(next.members & ~(1u << i));
      next.suspended = static_cast<std::uint8_t>(next.suspended & ~(1u << i));
      Push(next, Action::kNotice, i);
    }
    for (SlotIndex slot = 0; slot < options_.clients; ++slot) {
      if (world.flight[i][slot] == Flight::kNone) continue;
      World next = world;
      ClientProgram::Land(&next, i, slot);
      Push(next, Action::kLand, i);
    }
  }

  void ExpandArbiter(const World& world) {
    if (world.arbiter_dead) return ExpandOwnOpeners(world);
    if (options_.arbiter_dies) {
      World next = world;
      EndPass(&next);
      next.arbiter_dead = true;
      next.excused = true;
      Push(next, Action::kArbiterDies, world.replay.accesses);
    }
    if (world.in_pass) {
      World next = world;
      StepArbiter(options_, &next);
      Push(next, Action::kArbiter, next.replay.accesses);
      return;
    }
    const auto no_slot = static_cast<std::uint8_t>(options_.clients);
    for (std::uint8_t want = 0; want <= no_slot; ++want) {
      if (want < no_slot && !(world.members >> want & 1)) continue;
      for (const bool preempts : {false, true}) {
        if (preempts && options_.yields == 0) continue;
        World next = world;
        BeginPass(&next, want, preempts);
        StepArbiter(options_, &next);
        Push(next, preempts ? Action::kPreemptingPass : Action::kPass, want);
      }
    }
    for (std::uint8_t i = 0; i < no_slot; ++i) ExpandWatchdog(world, i);
  }

  // Lets the watchdog act between two passes: it suspends a holder, or readmits a suspended client whose
  // turn is over.
  void ExpandWatchdog(const World& world, std::uint8_t i) {
    const auto bit = static_cast<std::uint8_t>(1u << i);
    const bool holding = WordsOf(world, i).holding();
    World next = world;
    if ((world.members & bit) != 0 && holding && world.suspensions < options_.suspensions) {
      ++next.suspensions;
      next.excused = true;
      next.members = static_cast<std::uint8_t>(next.members & ~bit);
      next.suspended |= bit;
      Push(next, Action::kSuspend, i);
    } else if ((world.suspended & bit) != 0 && !holding) {
      next.members |= bit;
      next.suspended = static_cast<std::uint8_t>(next.suspended & ~bit);
      Push(next, Action::kReadmit, i);
    }
  }

  // Opens the gate of client `i` as its own arbiter thread does when there is no arbiter.
  static void OpenOwn(World* world, SlotIndex i) {
    if (world->gates_gone) return;
    world->word[i][static_cast<int>(Word::kGate)] = OpenAny(world->word[i][static_cast<int>(Word::kReady)]);
    NoteWake(world, i);
  }

  void ExpandOwnOpeners(const World& world) {
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      if (!clients_.Waits(world, i)) continue;
      World next = world;
      OpenOwn(&next, i);
      Push(next, Action::kOpensOwn, i);
    }
  }

  bool IsSignallerDead(const World& world) const {
    return options_.signaller == Signaller::kDead ||
           (options_.signaller == Signaller::kDiesWithArbiter && world.arbiter_dead);
  }

  void ExpandSignaller(const World& world) {
    if (!world.signals_kept || IsSignallerDead(world)) return;
    if (options_.signaller == Signaller::kWakes) {
      if (world.woken == 0) return;
      World next = world;
      SignalWoken(&next);
      Push(next, Action::kWoken, world.woken);
      return;
    }
    if (world.look.state == Look::State::kRests) {
      for (SlotIndex i = 0; i < options_.clients; ++i) {
        World next = world;
        BeginLook(&next, i);
        do {
          StepLook(&next);
        } while (!options_.torn_looks && next.look.state == Look::State::kReads);
        Push(next, Action::kLook, i);
      }
      return;
    }
    World next = world;
    StepLook(&next);
    Push(next, Action::kSignaller, world.look.replay.accesses);
    World dead = world;
    dead.look = {};
    Push(dead, Action::kSignallerDies, world.look.replay.accesses);
  }

  void Expand(const World& world) {
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      ExpandClient(world, i);
      ExpandFaults(world, i);
    }
    ExpandArbiter(world);
    ExpandSignaller(world);
  }

  // ---- liveness: if every client, the arbiter and a signaller that starts over go on from here, all turns
  // end and one token is left.

  void FollowFairly(World world) {
    if (options_.signals != Signals::kAny) return FollowFairly(world, clients_);
    // The signals now have values, and are lost no more. The extremes are that none is there, or that all
    // are.
    world.signals_kept = true;
    for (const ClientProgram* clients : {&clients_, &late_clients_}) {
      for (const unsigned come : {0u, (1u << options_.clients) - 1}) {
        world.come = static_cast<std::uint8_t>(come);
        FollowFairly(world, *clients);
      }
    }
  }

  void FollowFairly(World world, const ClientProgram& clients) {
    ++result_.completions;
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      world.members = static_cast<std::uint8_t>(world.client[i].alive ? world.members | 1u << i
                                                                      : world.members & ~(1u << i));
      world.client[i].late = false;
    }
    signaller::Follower follower;
    for (int round = 0; round < 40; ++round) {
      const bool all_done = StepClients(&world, clients);
      if (world.arbiter_dead) {
        OpenOwnGates(&world, clients);
      } else {
        PassAtOnce(&world, clients);
      }
      if (all_done && (world.arbiter_dead || OneToken(world))) return;
      SignalAtOnce(&follower, &world, round * signaller::kLongestRepeat);
      LandAll(&world);
    }
    Fail(world, "no progress, or not one token, after a fair run");
  }

  // Lets each client go on as far as it can. Returns whether all living ones have ended.
  bool StepClients(World* world, const ClientProgram& clients) const {
    bool all_done = true;
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      while (clients.CanStep(*world, i)) {
        if (ClientProgram::Chooses(*world, i)) clients.Bake(world, i, (i + 1) % options_.clients);
        clients.Advance(world, i);
      }
      all_done &= !world->client[i].alive || world->client[i].turn > options_.turns;
    }
    return all_done;
  }

  void OpenOwnGates(World* world, const ClientProgram& clients) const {
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      if (clients.Waits(*world, i)) OpenOwn(world, i);
    }
  }

  void PassAtOnce(World* world, const ClientProgram& clients) const {
    const auto no_slot = static_cast<std::uint8_t>(options_.clients);
    std::uint8_t want = no_slot;
    for (SlotIndex i = options_.clients; i-- > 0;) {
      if (!(world->members >> i & 1)) continue;
      if (clients.Waits(*world, i) || want == no_slot) want = static_cast<std::uint8_t>(i);
    }
    BeginPass(world, want, false);
    while (!StepArbiter(options_, world)) {
    }
  }

  void SignalAtOnce(signaller::Follower* follower, World* world, Time now) const {
    if (!world->signals_kept) return;
    if (IsSignallerDead(*world)) return;
    if (options_.signaller == Signaller::kWakes) return SignalWoken(world);
    FollowAtOnce(follower, world, options_.clients, now);
  }

  void LandAll(World* world) const {
    for (SlotIndex from = 0; from < options_.clients; ++from) {
      for (SlotIndex slot = 0; slot < options_.clients; ++slot) ClientProgram::Land(world, from, slot);
    }
  }

  bool OneToken(const World& world) const {
    if (world.members == 0) return true;
    Snapshot seen;
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      seen.client[i] = WordsOf(world, i);
    }
    return Token::Find(seen, SlotSet(world.members)).visible + (world.token.in_pocket() ? 1 : 0) == 1;
  }

  const ExplorerOptions options_;
  const ClientProgram clients_;
  const ClientProgram late_clients_;
  std::vector<std::pair<World, std::uint32_t>> stack_;
  std::vector<Step> steps_;
  std::uint32_t current_ = 0;
  std::unordered_set<Hash128, HashOfHash> visited_;
  ExplorerResult result_;
};

}  // namespace

ExplorerResult Explore(const ExplorerOptions& options) { return Explorer(options).Run(); }

}  // namespace crossover::turn::test
