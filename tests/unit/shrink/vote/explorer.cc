#include "tests/unit/shrink/vote/explorer.h"

#include <unordered_map>
#include <utility>

namespace crossover::shrink::vote::test {
namespace {

struct HashOfKey {
  std::size_t operator()(const Key& key) const {
    std::uint64_t hash = (key.a ^ key.b * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull;
    return hash ^ hash >> 31;
  }
};

class Explorer {
 public:
  explicit Explorer(const Options& options) : model_(options) {}

  Result Run() {
    Visit(model_.Start());
    result_.states = finished_.size();
    return std::move(result_);
  }

 private:
  // Explores what follows from a state. The steps to it are on the stack: a run is as long as that is deep.
  void Visit(const World& world) {
    if (result_.fault) return;
    const auto [found, is_new] = finished_.emplace(model_.KeyOf(world), false);
    if (!is_new) {
      if (!found->second) Fail("a state comes again", world);
      return;
    }
    bool* const finished = &found->second;
    CheckAgreement(world);
    const bool goes_on = model_.ForEachNext(world, [this](const World& next) { Visit(next); });
    if (!goes_on && !result_.fault) NoteEnd(world);
    *finished = true;
  }

  void CheckAgreement(const World& world) {
    std::optional<std::pair<VoterPhase, std::uint32_t>> first;
    for (std::uint32_t rank = 0; rank < model_.ranks(); ++rank) {
      const VoterPhase phase = model_.PhaseOf(world, rank);
      if (!Continues(phase)) continue;
      const bool narrow = phase == VoterPhase::kNarrow;
      const std::pair verdict(phase, narrow ? model_.BudgetOf(world, rank) : 0);
      if (first && *first != verdict) Fail("two ranks continue with different verdicts", world);
      first = verdict;
    }
    if (!first || first->first != VoterPhase::kNarrow) return;
    for (std::uint32_t rank = 0; rank < model_.ranks(); ++rank) {
      if (model_.options().kinds[rank] != Kind::kReady) Fail("narrowed beside a rank that is not", world);
    }
  }

  void NoteEnd(const World& world) {
    ++result_.ends;
    std::uint32_t narrow = 0, plain = 0, failed = 0;
    for (std::uint32_t rank = 0; rank < model_.ranks(); ++rank) {
      const VoterPhase phase = model_.PhaseOf(world, rank);
      if (!HasEnded(phase)) Fail("a rank does not end", world);
      narrow += phase == VoterPhase::kNarrow;
      plain += phase == VoterPhase::kPlain;
      failed += phase == VoterPhase::kFailed;
    }
    result_.all_narrow += narrow == model_.ranks();
    result_.all_plain += plain == model_.ranks();
    result_.some_fail += failed > 0;
  }

  void Fail(const char* what, const World& world) {
    if (result_.fault) return;
    result_.fault = what;
    for (std::uint32_t rank = 0; rank < model_.ranks(); ++rank) {
      constexpr const char* kNames[] = {"connects", "waits", "plain", "narrow", "failed"};
      *result_.fault += std::string("; rank ") + std::to_string(rank) + ": " +
                        kNames[static_cast<int>(model_.PhaseOf(world, rank))];
    }
  }

  const Model model_;
  std::unordered_map<Key, bool, HashOfKey> finished_;
  Result result_;
};

}  // namespace

Result Explore(const Options& options) { return Explorer(options).Run(); }

}  // namespace crossover::shrink::vote::test
