// Follows one random schedule of each of many drawn programs, and prints one JSON line: see
// benchmarks/faults/gaps_hang.py. Exits with 0 also where some of them stop.
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "tests/unit/turn/gap_explorer.h"

namespace {

using namespace crossover::turn::test;

struct Named {
  const char* name;
  GapRule rule;
};
constexpr Named kRules[] = {{"at_waits", GapRule::kAtWaits},
                            {"some_keep", GapRule::kSomeKeep},
                            {"each_chooses", GapRule::kEachChoosesToKeep},
                            {"all_keep", GapRule::kAllKeep},
                            {"after_waits", GapRule::kAfterWaits},
                            {"behind_the_call", GapRule::kBehindTheCall}};

bool ParseCount(std::string_view text, std::uint64_t* count) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *count);
  return error == std::errc() && end == text.data() + text.size() && *count >= 1 && *count <= 1'000'000;
}

const Named* FindRule(const char* name) {
  for (const Named& rule : kRules) {
    if (std::strcmp(rule.name, name) == 0) return &rule;
  }
  return nullptr;
}

// Returns the options of a walk: every second one has a kill, and the rule kEachChoosesToKeep draws which
// gaps are kept.
GapOptions OptionsOf(GapRule rule, std::uint64_t seed) {
  GapOptions options{.rule = rule,
                     .channels = rule == GapRule::kBehindTheCall,
                     .kills = static_cast<std::uint8_t>(seed % 2),
                     .late_writes = true};
  options.choices.assign(GapWorld::kMaxRanks, 0x5a5a5a5au * static_cast<std::uint32_t>(seed));
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t walks = 0;
  const Named* rule = argc == 3 ? FindRule(argv[2]) : nullptr;
  if (rule == nullptr || !ParseCount(argv[1], &walks)) {
    std::fprintf(stderr,
                 "usage: %s WALKS(1-1000000) "
                 "at_waits|some_keep|each_chooses|all_keep|after_waits|behind_the_call\n",
                 argv[0]);
    return 2;
  }
  std::uint64_t stuck = 0, first = 0, steps = 0, standing = 0, kept = 0;
  for (std::uint64_t seed = 1; seed <= walks; ++seed) {
    const GapResult walk = WalkGaps(DrawProgram(seed), OptionsOf(rule->rule, seed), seed);
    if (walk.fault && stuck++ == 0) first = seed;
    steps += walk.states;
    standing += walk.standing;
    kept += walk.kept;
  }
  std::printf(
      "{\"walks\": %llu, \"stuck\": %llu, \"first\": %llu, \"steps\": %llu, \"standing\": %llu, \"kept\": "
      "%llu}\n",
      static_cast<unsigned long long>(walks), static_cast<unsigned long long>(stuck),
      static_cast<unsigned long long>(first), static_cast<unsigned long long>(steps),
      static_cast<unsigned long long>(standing), static_cast<unsigned long long>(kept));
  return 0;
}
