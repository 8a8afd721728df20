#include "tests/unit/turn/gap_explorer.h"

#include <cstring>
#include <random>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tests/unit/turn/explorer_world.h"

namespace crossover::turn::test {
namespace {

// A token that lies elsewhere takes a pass to be seen, one to be taken and one to be given. One that is lost
// beside a late write takes some more.
constexpr int kFairPasses = 6;

std::uint64_t Mix(std::uint64_t h, std::uint64_t v) {
  h ^= v + 0x9e3779b97f4a7c15ull + (h << 6) + (h >> 2);
  h ^= h >> 31;
  h *= 0xbf58476d1ce4e5b9ull;
  return h ^ (h >> 29);
}

Hash128 HashOfWorld(const GapModel& model, const GapWorld& world) {
  Hash128 hash{0x51ull, 0xa7ull};
  const auto add = [&hash](std::uint64_t value) {
    hash.a = Mix(hash.a, value);
    hash.b = Mix(hash.b, value ^ 0x5bd1e9955bd1e995ull);
  };
  for (int g = 0; g < model.gpus(); ++g) {
    const GapGpu& gpu = world.gpu[g];
    for (const auto& words : gpu.word) {
      add(std::uint64_t{words[0]} << 32 | words[1]);
      add(std::uint64_t{words[2]} << 32 | words[3]);
    }
    std::uint16_t token = 0;
    static_assert(sizeof(token) == sizeof(gpu.token));
    std::memcpy(&token, &gpu.token, sizeof token);
    add(std::uint64_t{token} << 8 | gpu.members);
  }
  for (int r = 0; r < model.ranks(); ++r) {
    const GapClient& client = world.client[r];
    add(std::uint64_t{client.open} << 32 | std::uint64_t{client.step} << 24 | std::uint64_t{client.op} << 16 |
        std::uint64_t{client.successor} << 8 | std::uint64_t{client.alive} << 1 | std::uint64_t{client.late});
  }
  add(std::uint64_t{world.kills} << 1 | std::uint64_t{world.excused});
  return hash;
}

bool CanGoOn(const GapModel& model, const GapWorld& world) {
  const std::uint64_t ended = model.Ended(world);
  for (int rank = 0; rank < model.ranks(); ++rank) {
    if (model.CanStep(world, rank, ended)) return true;
  }
  return false;
}

// Returns the slot of a rank that waits at a gate of the GPU, the first or the last one.
std::optional<SlotIndex> Waiter(const GapModel& model, const GapWorld& world, int gpu, bool last) {
  std::optional<SlotIndex> found;
  for (int rank = 0; rank < model.ranks(); ++rank) {
    const GapRank& of = model.RankOf(rank);
    if (of.gpu != gpu || !model.AtGate(world, rank)) continue;
    if (!found || (last ? of.job > *found : of.job < *found)) found = of.job;
  }
  return found;
}

// Returns why a world in which no rank can execute a step cannot go on, or nothing.
std::optional<std::string> WhyStuck(const GapModel& model, const GapWorld& standing) {
  for (const bool last : {false, true}) {
    GapWorld world = standing;
    for (int rank = 0; rank < model.ranks(); ++rank) {
      world.client[rank].late = false;
      if (!world.client[rank].alive) model.Notice(&world, rank);
    }
    bool on = false;
    for (int pass = 0; pass < kFairPasses && !on; ++pass) {
      for (int gpu = 0; gpu < model.gpus(); ++gpu) model.Pass(&world, gpu, Waiter(model, world, gpu, last));
      on = CanGoOn(model, world);
    }
    if (!on && model.Unfinished(world)) return "no rank can go on" + model.TextOf(world);
  }
  return std::nullopt;
}

std::optional<std::string> WhyUnsafe(const GapModel& model, const GapWorld& world) {
  for (int gpu = 0; gpu < model.gpus(); ++gpu) {
    if (model.InTurn(world, gpu) > 1 && !world.excused)
      return "two ranks hold the turn of GPU " + std::to_string(gpu) + model.TextOf(world);
  }
  return std::nullopt;
}

class GapExplorer {
 public:
  GapExplorer(const GapProgram& program, const GapOptions& options, std::uint64_t max_states)
      : model_(program, options), max_states_(max_states) {}

  GapResult Run() {
    Push(model_.Start());
    while (!stack_.empty() && !result_.fault) {
      const GapWorld world = stack_.back();
      stack_.pop_back();
      result_.fault = WhyUnsafe(model_, world);
      if (!result_.fault) Expand(world);
      if (visited_.size() > max_states_) {
        result_.complete = false;
        break;
      }
    }
    result_.states = visited_.size();
    return std::move(result_);
  }

 private:
  void Push(const GapWorld& world) {
    if (visited_.insert(HashOfWorld(model_, world)).second) stack_.push_back(world);
  }

  void Expand(const GapWorld& world) {
    const std::uint64_t ended = model_.Ended(world);
    bool goes_on = false;
    for (int rank = 0; rank < model_.ranks(); ++rank) {
      if (model_.CanStep(world, rank, ended)) {
        goes_on = true;
        ExpandRank(world, rank);
      }
      ExpandFaults(world, rank);
    }
    for (int gpu = 0; gpu < model_.gpus(); ++gpu) ExpandArbiter(world, gpu);
    if (goes_on) return;
    ++result_.standing;
    result_.fault = WhyStuck(model_, world);
  }

  void ExpandRank(const GapWorld& world, int rank) {
    const GapRank& of = model_.RankOf(rank);
    const bool chooses = model_.Chooses(world, rank);
    for (SlotIndex successor = 0; successor < GapProgram::kMaxJobs; ++successor) {
      if (chooses ? (world.gpu[of.gpu].members >> successor & 1) == 0 : successor != 0) continue;
      if (chooses && successor == of.job) ++result_.kept;
      GapWorld next = world;
      model_.Step(&next, rank, successor);
      Push(next);
    }
  }

  void ExpandFaults(const GapWorld& world, int rank) {
    const GapClient& client = world.client[rank];
    const auto push = [&](auto change) {
      GapWorld next = world;
      (model_.*change)(&next, rank);
      Push(next);
    };
    if (client.alive && world.kills < model_.options().kills && !model_.Done(world, rank))
      push(&GapModel::Kill);
    if (client.late) push(&GapModel::WriteLate);
    if (!client.alive) push(&GapModel::Notice);
  }

  void ExpandArbiter(const GapWorld& world, int gpu) {
    const SlotSet members(world.gpu[gpu].members);
    GapWorld next = world;
    model_.Pass(&next, gpu, std::nullopt);
    Push(next);
    for (const SlotIndex want : members) {
      next = world;
      model_.Pass(&next, gpu, want);
      Push(next);
    }
  }

  const GapModel model_;
  const std::uint64_t max_states_;
  std::vector<GapWorld> stack_;
  std::unordered_set<Hash128, HashOfHash> visited_;
  GapResult result_;
};

// Follows one random schedule.
class GapWalk {
 public:
  GapWalk(const GapProgram& program, const GapOptions& options, std::uint64_t seed)
      : model_(program, options), world_(model_.Start()), random_(seed) {}

  GapResult Run() {
    while (model_.Unfinished(world_) && !result_.fault) {
      ++result_.states;
      Go();
      if (!result_.fault) result_.fault = WhyUnsafe(model_, world_);
    }
    return std::move(result_);
  }

 private:
  int Below(int end) { return std::uniform_int_distribution(0, end - 1)(random_); }

  void Go() {
    if (!CanGoOn(model_, world_)) {
      ++result_.standing;
      result_.fault = WhyStuck(model_, world_);
    }
    switch (Below(4)) {
      case 0:
        return Pass(Below(model_.gpus()));
      case 1:
        return Disturb(Below(model_.ranks()));
      default:
        return Step(Below(model_.ranks()));
    }
  }

  void Pass(int gpu) {
    const std::optional<SlotIndex> waiter = Waiter(model_, world_, gpu, Below(2) != 0);
    model_.Pass(&world_, gpu, Below(2) != 0 ? waiter : static_cast<SlotIndex>(Below(GapProgram::kMaxJobs)));
  }

  void Disturb(int rank) {
    const GapClient& client = world_.client[rank];
    if (client.late) return model_.WriteLate(&world_, rank);
    if (!client.alive) return model_.Notice(&world_, rank);
    if (world_.kills < model_.options().kills && !model_.Done(world_, rank) && Below(200) == 0)
      model_.Kill(&world_, rank);
  }

  // Lets a rank execute some operations in a row.
  void Step(int rank) {
    for (int i = Below(8); i >= 0 && model_.CanStep(world_, rank, model_.Ended(world_)); --i) {
      const GapRank& of = model_.RankOf(rank);
      const SlotSet members(world_.gpu[of.gpu].members);
      auto successor = static_cast<SlotIndex>(Below(GapProgram::kMaxJobs));
      if (!members.Has(successor)) successor = of.job;
      if (model_.Chooses(world_, rank) && successor == of.job) ++result_.kept;
      model_.Step(&world_, rank, successor);
    }
  }

  const GapModel model_;
  GapWorld world_;
  std::mt19937_64 random_;
  GapResult result_;
};

}  // namespace

GapResult ExploreGaps(const GapProgram& program, const GapOptions& options, std::uint64_t max_states) {
  return GapExplorer(program, options, max_states).Run();
}

GapResult WalkGaps(const GapProgram& program, const GapOptions& options, std::uint64_t seed) {
  return GapWalk(program, options, seed).Run();
}

}  // namespace crossover::turn::test
