#include "tests/unit/turn/explorer.h"

#include <algorithm>
#include <cstring>

namespace crossover::turn::test {
namespace {

constexpr int kMaxClients = 3;
constexpr int kMaxAccesses = 32;

struct Pause {};

struct Client {
  // The next operation is one of these:
  //   0-3  Acquire
  //   4    the first of Yield or of Release: the client has the turn
  //   5    the second of Release
  //   6-9  Yield after its first
  std::uint8_t step = 0;
  std::uint8_t turn = 1;
  std::uint8_t yields = 0;  // in this turn
  std::uint8_t successor = 0;
  bool alive = true;
  bool late = false;  // dead, and its next write is still in flight
  std::uint32_t open = 0;
};

struct World {
  std::uint32_t word[kMaxClients][4] = {};
  std::uint32_t copy[kMaxClients] = {};  // copies of the gates; clients wait at them with bad_gate_copy
  Client client[kMaxClients];
  // The fields down to `read` describe the arbiter's pass: its state at the beginning, its choice, and its
  // accesses so far.
  Token token;
  std::uint8_t members = 0;
  std::uint8_t want = 0;  // a slot, or options.clients for no slot
  bool preempts = false;  // the pass ends with an attempt to preempt the holder
  bool in_pass = false;
  std::uint8_t accesses = 0;
  std::uint32_t read[kMaxAccesses] = {};
  std::uint8_t kills = 0;
  std::uint8_t suspended = 0;    // slots that the watchdog took out of the members
  std::uint8_t suspensions = 0;  // so far
  bool excused = false;          // a suspension or a late write: overlap is then possible
};

// A ReplayMemory returns to the arbiter what the accesses of its pass returned before. It then executes one
// more access, and pauses the pass by throwing Pause.
class ReplayMemory {
 public:
  explicit ReplayMemory(World* world) : world_(world) {}
  std::uint32_t Load(SlotIndex slot, Word word) {
    if (position_ < world_->accesses) return world_->read[position_++];
    Fresh();
    world_->read[position_ - 1] = world_->word[slot][static_cast<int>(word)];
    throw Pause{};
  }
  bool SwapGate(SlotIndex slot, std::uint32_t expected, std::uint32_t desired) {
    if (position_ < world_->accesses) return world_->read[position_++] != 0;
    Fresh();
    std::uint32_t& gate = world_->word[slot][static_cast<int>(Word::kGate)];
    const bool swapped = gate == expected;
    if (swapped) gate = desired;
    if (swapped && AtOrPast(desired, expected)) world_->copy[slot] = desired;
    world_->read[position_ - 1] = swapped;
    throw Pause{};
  }
  // Stores without a comparison, as a known-bad arbiter would. Pauses like any other access.
  bool StoreGate(SlotIndex slot, std::uint32_t value) {
    if (position_ < world_->accesses) return world_->read[position_++] != 0;
    Fresh();
    world_->word[slot][static_cast<int>(Word::kGate)] = value;
    world_->read[position_ - 1] = 1;
    throw Pause{};
  }

 private:
  void Fresh() {
    ++position_;
    world_->accesses = position_;
    if (position_ >= kMaxAccesses) std::abort();
  }
  World* world_;
  std::uint8_t position_ = 0;
};

// A BadMemory makes the arbiter known-bad: it returns old values instead of reading again, or stores to
// gates instead of swapping them.
class BadMemory {
 public:
  BadMemory(ReplayMemory* memory, const ExplorerOptions& options, const Snapshot* seen)
      : memory_(memory), options_(options), seen_(seen) {}
  std::uint32_t Load(SlotIndex slot, Word word) {
    if (options_.bad_single_collect && !swapped_) return Seen(slot, word);
    if (options_.bad_blind_revoke && word == Word::kReady && swapped_) return seen_->client[slot].hold;
    return memory_->Load(slot, word);
  }
  bool SwapGate(SlotIndex slot, std::uint32_t expected, std::uint32_t desired) {
    if (options_.bad_blind_swap) return memory_->StoreGate(slot, desired);
    const bool swapped = memory_->SwapGate(slot, expected, desired);
    swapped_ = true;
    return swapped;
  }

 private:
  std::uint32_t Seen(SlotIndex slot, Word word) const {
    const ClientWords& words = seen_->client[slot];
    switch (word) {
      case Word::kReady:
        return words.ready;
      case Word::kHold:
        return words.hold;
      case Word::kRel:
        return words.rel;
      case Word::kGate:
        return words.gate;
    }
    return 0;
  }
  ReplayMemory* memory_;
  const ExplorerOptions& options_;
  const Snapshot* seen_;
  bool swapped_ = false;
};

struct Hash128 {
  std::uint64_t a, b;
  friend bool operator==(const Hash128&, const Hash128&) = default;
};
struct HashOfHash {
  std::size_t operator()(const Hash128& h) const { return h.a; }
};

std::uint64_t Mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h ^= h >> 31;
  h *= 0xbf58476d1ce4e5b9ull;
  return h ^ (h >> 29);
}

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
  kArbiter
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
                                        "arbiter, access"};

// A Step says how a state was reached. Fail() follows the steps back to print the way to a fault.
struct Step {
  std::uint32_t before;
  Action action;
  std::uint8_t who;
};

class Explorer {
 public:
  explicit Explorer(const ExplorerOptions& options) : options_(options) {}

  ExplorerResult Run() {
    World start;
    start.members = static_cast<std::uint8_t>((1u << options_.clients) - 1);
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
  Hash128 HashOf(const World& world) const {
    Hash128 h{1, 2};
    const auto add = [&h](std::uint64_t v) {
      h.a = Mix(h.a, v);
      h.b = Mix(h.b, v * 31 + 7);
    };
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      for (std::uint32_t word : world.word[i]) add(word);
      if (options_.bad_gate_copy) add(world.copy[i]);
      const Client& c = world.client[i];
      add(static_cast<std::uint64_t>(c.step) | static_cast<std::uint64_t>(c.turn) << 8 |
          static_cast<std::uint64_t>(c.successor) << 16 | static_cast<std::uint64_t>(c.alive) << 24 |
          static_cast<std::uint64_t>(c.late) << 25 | static_cast<std::uint64_t>(c.yields) << 26 |
          static_cast<std::uint64_t>(c.open) << 32);
    }
    std::uint64_t token = 0;
    static_assert(sizeof(Token) <= sizeof(token));
    std::memcpy(&token, &world.token, sizeof(Token));
    add(token);
    add(static_cast<std::uint64_t>(world.members) | static_cast<std::uint64_t>(world.want) << 8 |
        static_cast<std::uint64_t>(world.suspended) << 16 | static_cast<std::uint64_t>(world.in_pass) << 24 |
        static_cast<std::uint64_t>(world.preempts) << 25 | static_cast<std::uint64_t>(world.accesses) << 32 |
        static_cast<std::uint64_t>(world.kills) << 40 | static_cast<std::uint64_t>(world.suspensions) << 48 |
        static_cast<std::uint64_t>(world.excused) << 56);
    for (int i = 0; i < world.accesses; ++i) add(world.read[i]);
    return h;
  }

  void Push(const World& world, Action action, std::uint32_t who) {
    if (!visited_.insert(HashOf(world)).second) return;
    stack_.emplace_back(world, static_cast<std::uint32_t>(steps_.size()));
    steps_.push_back({current_, action, static_cast<std::uint8_t>(who)});
  }

  bool InTurn(const World& world, SlotIndex i) const {
    const Client& c = world.client[i];
    return c.alive && ((c.step >= 2 && c.step <= 4) || c.step == 6 || c.step >= 8);
  }

  void Check(const World& world) {
    int inside = 0;
    for (SlotIndex i = 0; i < options_.clients; ++i) inside += InTurn(world, i);
    if (inside > 1 && !world.excused) Fail(world, "two clients hold the turn");
    if (!world.in_pass) FollowFairly(world);
  }

  void Fail(const World& world, const char* what) {
    std::string text = what;
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      const Client& c = world.client[i];
      text += "\n  client " + std::to_string(i) + ": turn " + std::to_string(c.turn) + " step " +
              std::to_string(c.step) + (c.alive ? "" : " dead") + ", ready hold rel gate";
      for (std::uint32_t word : world.word[i]) text += " " + std::to_string(word);
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

  static constexpr std::uint8_t kFirstOfYield = 6;  // the first operation moves a client from step 4 there
  static constexpr std::uint8_t kPastYield = 10;

  static TurnNumber Number(const Client& c) { return FirstStretch(c.turn) + c.yields; }

  std::array<Op, 5> YieldOf(const World& world, SlotIndex i) const {
    auto ops = Yield(i, Number(world.client[i]));
    if (options_.bad_rel_before_ready) std::swap(ops[0], ops[1]);
    return ops;
  }

  Op NextOp(const World& world, SlotIndex i) const {
    const Client& c = world.client[i];
    if (c.step < 4) return Acquire(i, Number(c))[c.step];
    if (c.step >= kFirstOfYield) return YieldOf(world, i)[c.step - kFirstOfYield + 1u];
    auto release = Release(i, Number(c), c.successor, c.open);
    if (options_.bad_rel_before_gate) std::swap(release[0], release[1]);
    return release[c.step - 4u];
  }

  bool CanStep(const World& world, SlotIndex i) const {
    const Client& c = world.client[i];
    if (!c.alive || c.turn > options_.turns) return false;
    const Op op = NextOp(world, i);
    if (options_.bad_gate_copy && op.kind == Op::Kind::kWaitGeq)
      return AtOrPast(world.copy[op.slot], op.value);
    return op.kind == Op::Kind::kWrite || AtOrPast(world.word[op.slot][static_cast<int>(op.word)], op.value);
  }

  static void Perform(World* world, const Op& op) {
    if (op.kind != Op::Kind::kWrite) return;
    world->word[op.slot][static_cast<int>(op.word)] = op.value;
    if (op.word == Word::kGate) world->copy[op.slot] = op.value;
  }

  void Advance(World* world, SlotIndex i) const {
    Client& c = world->client[i];
    Perform(world, NextOp(*world, i));
    ++c.step;
    if (c.step == kFirstOfYield) {
      c.step = 0;
      ++c.turn;
      c.yields = 0;
      c.successor = 0;
      c.open = 0;
    } else if (c.step == kPastYield) {
      c.step = 4;
      ++c.yields;
    }
  }

  void BeginYield(World* world, SlotIndex i) const {
    Perform(world, YieldOf(*world, i)[0]);
    world->client[i].step = kFirstOfYield;
  }

  // Fixes the successor and the value that opens its gate. A client fixes both when it enqueues its
  // release; here that happens when the release begins. The caller tries each slot as the successor.
  void Bake(World* world, SlotIndex i, SlotIndex successor) const {
    Client& c = world->client[i];
    c.successor = static_cast<std::uint8_t>(successor);
    c.open = OpenFor(i, c.turn, successor, world->word[successor][0]);
  }

  void ExpandClient(const World& world, SlotIndex i) {
    if (!CanStep(world, i)) return;
    if (world.client[i].step == 4 && world.client[i].yields < options_.yields) {
      World next = world;
      BeginYield(&next, i);
      Push(next, Action::kClient, i);
    }
    if (world.client[i].step == 4) {
      for (SlotIndex successor = 0; successor < options_.clients; ++successor) {
        World next = world;
        Bake(&next, i, successor);
        Advance(&next, i);
        Push(next, Action::kClient, i);
      }
      return;
    }
    World next = world;
    Advance(&next, i);
    Push(next, Action::kClient, i);
  }

  void ExpandFaults(const World& world, SlotIndex i) {
    const Client& c = world.client[i];
    if (c.alive && world.kills < options_.kills && c.turn <= options_.turns) {
      World next = world;
      next.client[i].alive = false;
      ++next.kills;
      const bool writes = NextOp(world, i).kind == Op::Kind::kWrite;
      if (options_.late_writes && writes) {
        next.client[i].late = true;
        if (c.step == 4) Bake(&next, i, (i + 1) % options_.clients);
      }
      Push(next, Action::kKill, i);
    }
    if (c.late) {
      World next = world;
      Perform(&next, NextOp(world, i));
      next.client[i].late = false;
      next.excused = true;
      Push(next, Action::kLate, i);
    }
    if (!c.alive && !world.in_pass && (world.members >> i & 1)) {
      World next = world;
      next.members = static_cast<std::uint8_t>(next.members & ~(1u << i));
      next.suspended = static_cast<std::uint8_t>(next.suspended & ~(1u << i));
      Push(next, Action::kNotice, i);
    }
  }

  // ---- the arbiter

  // Executes one more access of the pass. Returns true where the pass has ended instead.
  bool StepArbiter(World* world) const {
    ReplayMemory memory(world);
    Token token = world->token;
    try {
      const SlotSet members(world->members);
      Snapshot seen;
      Collect(memory, members, &seen);
      const SlotIndex want = world->want < options_.clients ? world->want : kNobody;
      if (options_.bad_blind_revoke || options_.bad_single_collect || options_.bad_blind_swap) {
        BadMemory bad(&memory, options_, &seen);
        token.Step(bad, members, seen, want);
        if (world->preempts) PreemptHolder(bad, members, seen);
      } else {
        token.Step(memory, members, seen, want);
        if (world->preempts) PreemptHolder(memory, members, seen);
      }
    } catch (const Pause&) {
      return false;
    }
    world->token = token;
    EndPass(world);
    return true;
  }

  template <class Memory>
  static void PreemptHolder(Memory& memory, SlotSet members, const Snapshot& seen) {
    const SlotIndex holder = Token::Find(seen, members).holder;
    if (holder != kNobody) Token::Preempt(memory, holder, seen.client[holder]);
  }

  void EndPass(World* world) const {
    world->in_pass = false;
    world->preempts = false;
    world->accesses = 0;
    std::fill(std::begin(world->read), std::end(world->read), 0u);
    world->want = 0;
  }

  void ExpandArbiter(const World& world) {
    if (world.in_pass) {
      World next = world;
      StepArbiter(&next);
      Push(next, Action::kArbiter, next.accesses);
      return;
    }
    const auto nobody = static_cast<std::uint8_t>(options_.clients);
    for (std::uint8_t want = 0; want <= nobody; ++want) {
      if (want < nobody && !(world.members >> want & 1)) continue;
      for (const bool preempts : {false, true}) {
        if (preempts && options_.yields == 0) continue;
        World next = world;
        next.in_pass = true;
        next.want = want;
        next.preempts = preempts;
        StepArbiter(&next);
        Push(next, preempts ? Action::kPreemptingPass : Action::kPass, want);
      }
    }
    for (std::uint8_t i = 0; i < nobody; ++i) ExpandWatchdog(world, i);
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

  void Expand(const World& world) {
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      ExpandClient(world, i);
      ExpandFaults(world, i);
    }
    ExpandArbiter(world);
  }

  // ---- liveness: if every client and the arbiter go on from here, all turns end and one token is left.

  void FollowFairly(World world) {
    ++result_.completions;
    for (SlotIndex i = 0; i < options_.clients; ++i) {
      world.members = static_cast<std::uint8_t>(world.client[i].alive ? world.members | 1u << i
                                                                      : world.members & ~(1u << i));
      world.client[i].late = false;
    }
    for (int round = 0; round < 40; ++round) {
      bool all_done = true;
      for (SlotIndex i = 0; i < options_.clients; ++i) {
        while (CanStep(world, i)) {
          if (world.client[i].step == 4) Bake(&world, i, (i + 1) % options_.clients);
          Advance(&world, i);
        }
        all_done &= !world.client[i].alive || world.client[i].turn > options_.turns;
      }
      PassAtOnce(&world);
      if (all_done && OneToken(world)) return;
    }
    Fail(world, "no progress, or not one token, after a fair run");
  }

  void PassAtOnce(World* world) const {
    world->in_pass = true;
    const auto nobody = static_cast<std::uint8_t>(options_.clients);
    world->want = nobody;
    for (SlotIndex i = options_.clients; i-- > 0;) {
      const Client& c = world->client[i];
      if (!(world->members >> i & 1)) continue;
      if (c.step == 1 || c.step == kFirstOfYield + 1 || world->want == nobody)
        world->want = static_cast<std::uint8_t>(i);
    }
    while (!StepArbiter(world)) {
    }
  }

  static ClientWords WordsOf(const World& world, SlotIndex i) {
    return {world.word[i][0], world.word[i][1], world.word[i][2], world.word[i][3]};
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
  std::vector<std::pair<World, std::uint32_t>> stack_;
  std::vector<Step> steps_;
  std::uint32_t current_ = 0;
  std::unordered_set<Hash128, HashOfHash> visited_;
  ExplorerResult result_;
};

}  // namespace

ExplorerResult Explore(const ExplorerOptions& options) { return Explorer(options).Run(); }

}  // namespace crossover::turn::test
