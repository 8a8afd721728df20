#include "tests/unit/turn/gap_world.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace crossover::turn::test {
namespace {

using Kind = GapStep::Kind;

constexpr bool HasOps(Kind kind) { return kind == Kind::kAcquire || kind == Kind::kRelease; }
constexpr std::uint8_t OpsOf(Kind kind) { return kind == Kind::kAcquire ? 4 : 2; }
constexpr std::uint8_t kGateWait = 1;  // the index of the wait among the operations of Acquire()

// The words of one GPU, as the arbiter reads and swaps them.
class GpuMemory {
 public:
  explicit GpuMemory(GapGpu* gpu) : gpu_(gpu) {}
  std::uint32_t Load(SlotIndex slot, Word word) const { return gpu_->word[slot][static_cast<int>(word)]; }
  bool SwapGate(SlotIndex slot, std::uint32_t expected, std::uint32_t desired) {
    std::uint32_t& gate = gpu_->word[slot][static_cast<int>(Word::kGate)];
    if (gate != expected) return false;
    gate = desired;
    return true;
  }

 private:
  GapGpu* gpu_;
};

}  // namespace

GapModel::GapModel(const GapProgram& program, const GapOptions& options)
    : program_(program), options_(options), calls_(program.collectives.size()) {
  for (int rank = 0; rank < ranks(); ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const std::uint32_t choices = i < options_.choices.size() ? options_.choices[i] : 0;
    lowered_.push_back({Lower(program_.ranks[i], options_.rule, choices), {}, {}});
    LearnCalls(rank);
  }
}

void GapModel::LearnCalls(int rank) {
  Lowered& lowered = lowered_[static_cast<std::size_t>(rank)];
  std::uint64_t called = 0;
  bool in_turn = false;
  for (std::size_t i = 0; i < lowered.steps.size(); ++i) {
    const GapStep& step = lowered.steps[i];
    lowered.called.push_back(called);
    lowered.in_turn.push_back(in_turn);
    if (step.kind == Kind::kAcquire) in_turn = true;
    if (step.kind == Kind::kRelease) in_turn = false;
    if (step.kind != Kind::kCall) continue;
    std::uint64_t before = 0;
    for (std::size_t c = 0; c < program_.collectives.size(); ++c) {
      const bool same = program_.collectives[c].stream == program_.collectives[step.collective].stream;
      if (same && (called >> c & 1) != 0) before |= 1ull << c;
    }
    calls_[step.collective].push_back({rank, static_cast<std::uint8_t>(i), before});
    called |= 1ull << step.collective;
  }
}

GapWorld GapModel::Start() const {
  GapWorld world;
  for (const GapRank& rank : program_.ranks) {
    world.gpu[rank.gpu].members = static_cast<std::uint8_t>(world.gpu[rank.gpu].members | 1u << rank.job);
  }
  return world;
}

std::uint64_t GapModel::Ended(const GapWorld& world) const {
  std::uint64_t ended = 0;
  for (std::uint64_t before = ~0ull; before != ended;) {
    before = ended;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      const bool all = std::all_of(calls_[c].begin(), calls_[c].end(), [&](const CallOf& call) {
        return world.client[call.rank].step > call.step && (call.before & ~ended) == 0;
      });
      if (all) ended |= 1ull << c;
    }
  }
  return ended;
}

const GapStep& GapModel::StepOf(const GapWorld& world, int rank) const {
  return lowered_[static_cast<std::size_t>(rank)].steps[world.client[rank].step];
}

bool GapModel::Done(const GapWorld& world, int rank) const {
  return world.client[rank].step >= lowered_[static_cast<std::size_t>(rank)].steps.size();
}

Op GapModel::NextOp(const GapWorld& world, int rank) const {
  const GapStep& step = StepOf(world, rank);
  const GapClient& client = world.client[rank];
  const SlotIndex self = RankOf(rank).job;
  if (step.kind == Kind::kAcquire) return Acquire(self, step.turn)[client.op];
  return Release(self, step.turn, client.successor, client.open)[client.op];
}

std::uint32_t& GapModel::WordOf(GapWorld* world, int rank, const Op& op) const {
  const GapRank& of = RankOf(rank);
  return world->gpu[of.gpu].word[op.slot][static_cast<int>(op.word)];
}

bool GapModel::AtGate(const GapWorld& world, int rank) const {
  return world.client[rank].alive && !Done(world, rank) && StepOf(world, rank).kind == Kind::kAcquire &&
         world.client[rank].op == kGateWait;
}

bool GapModel::CanStep(const GapWorld& world, int rank, std::uint64_t ended) const {
  if (!world.client[rank].alive || Done(world, rank)) return false;
  const GapStep& step = StepOf(world, rank);
  if (step.kind == Kind::kWait) return (ended >> step.collective & 1) != 0;
  if (step.kind == Kind::kRelease && options_.channels && world.client[rank].op == 0) {
    return (lowered_[static_cast<std::size_t>(rank)].called[world.client[rank].step] & ~ended) == 0;
  }
  if (!AtGate(world, rank)) return true;
  const GapRank& of = RankOf(rank);
  return AtOrPast(world.gpu[of.gpu].word[of.job][static_cast<int>(Word::kGate)], step.turn);
}

bool GapModel::Chooses(const GapWorld& world, int rank) const {
  return StepOf(world, rank).kind == Kind::kRelease && world.client[rank].op == 0;
}

void GapModel::Bake(GapWorld* world, int rank, SlotIndex successor) const {
  const GapRank& of = RankOf(rank);
  GapClient& client = world->client[rank];
  client.successor = static_cast<std::uint8_t>(successor);
  client.open = OpenFor(of.job, StepOf(*world, rank).turn, successor,
                        world->gpu[of.gpu].word[successor][static_cast<int>(Word::kReady)]);
}

void GapModel::Step(GapWorld* world, int rank, SlotIndex successor) const {
  GapClient& client = world->client[rank];
  const Kind kind = StepOf(*world, rank).kind;
  if (HasOps(kind)) {
    if (Chooses(*world, rank)) Bake(world, rank, successor);
    const Op op = NextOp(*world, rank);
    if (op.kind == Op::Kind::kWrite) WordOf(world, rank, op) = op.value;
    if (++client.op < OpsOf(kind)) return;
  }
  // A later state must not differ by what no longer matters.
  client = {.step = static_cast<std::uint8_t>(client.step + 1)};
}

void GapModel::Pass(GapWorld* world, int gpu, std::optional<SlotIndex> want) const {
  GapGpu& of = world->gpu[gpu];
  GpuMemory memory(&of);
  Snapshot seen;
  Collect(memory, SlotSet(of.members), &seen);
  of.token.Step(memory, SlotSet(of.members), seen, want.value_or(kNobody));
}

void GapModel::Kill(GapWorld* world, int rank) const {
  GapClient& client = world->client[rank];
  client.alive = false;
  ++world->kills;
  if (!options_.late_writes || Done(*world, rank) || !HasOps(StepOf(*world, rank).kind)) return;
  if (Chooses(*world, rank)) {
    const int slots = std::popcount(world->gpu[RankOf(rank).gpu].members);
    Bake(world, rank, static_cast<SlotIndex>((client.successor + 1) % slots));
  }
  client.late = NextOp(*world, rank).kind == Op::Kind::kWrite;
}

void GapModel::WriteLate(GapWorld* world, int rank) const {
  const Op op = NextOp(*world, rank);
  WordOf(world, rank, op) = op.value;
  world->client[rank].late = false;
  world->excused = true;
}

void GapModel::Notice(GapWorld* world, int rank) const {
  const GapRank& of = RankOf(rank);
  world->gpu[of.gpu].members = static_cast<std::uint8_t>(world->gpu[of.gpu].members & ~(1u << of.job));
}

bool GapModel::Unfinished(const GapWorld& world) const {
  std::uint32_t hurt = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (!world.client[rank].alive) hurt |= 1u << RankOf(rank).job;
  }
  for (int rank = 0; rank < ranks(); ++rank) {
    if ((hurt >> RankOf(rank).job & 1) == 0 && !Done(world, rank)) return true;
  }
  return false;
}

int GapModel::InTurn(const GapWorld& world, int gpu) const {
  int inside = 0;
  for (int rank = 0; rank < ranks(); ++rank) {
    const GapClient& client = world.client[rank];
    if (RankOf(rank).gpu != gpu || !client.alive || Done(world, rank)) continue;
    const Kind kind = StepOf(world, rank).kind;
    const bool before = lowered_[static_cast<std::size_t>(rank)].in_turn[client.step];
    inside += kind == Kind::kAcquire ? client.op > kGateWait : before && client.op == 0;
  }
  return inside;
}

std::string GapModel::TextOf(const GapWorld& world) const {
  static constexpr const char* kKinds[] = {"acquires", "computes", "calls", "releases", "waits for"};
  std::string text;
  for (int rank = 0; rank < ranks(); ++rank) {
    const GapRank& of = RankOf(rank);
    text += "\n  job " + std::to_string(of.job) + " on GPU " + std::to_string(of.gpu) + ": ";
    text += world.client[rank].alive ? "" : "dead, ";
    if (Done(world, rank)) {
      text += "done";
    } else {
      const GapStep& step = StepOf(world, rank);
      text += kKinds[static_cast<int>(step.kind)];
      if (step.kind == Kind::kCall || step.kind == Kind::kWait)
        text += " collective " + std::to_string(step.collective);
      if (HasOps(step.kind))
        text += " turn " + std::to_string(TurnOf(step.turn)) + ", operation " +
                std::to_string(world.client[rank].op);
    }
    text += ", ready hold rel gate";
    for (const std::uint32_t word : world.gpu[of.gpu].word[of.job]) text += " " + std::to_string(word);
  }
  return text;
}

}  // namespace crossover::turn::test
