#include "deviceplugin/arbiter/cap_admission.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/base/clock.h"

namespace crossover::arbiter {
namespace {

// Jobs whose ranks join within this time of each other began together.
constexpr turn::Time kTogether = 5 * base::kNsPerSecond;
// A hand-over takes this long if the arbiter has to look at the page first.
constexpr turn::Time kHandOver = 150 * base::kNsPerUs;

std::string Fixed(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", value);
  return text;
}

}  // namespace

void CapAdmission::Join(turn::SlotIndex slot, std::string gang, double cap, turn::Time now) {
  client_[slot] = {.gang = std::move(gang), .cap = cap, .joined = now, .refused = false};
  present_.Add(slot);
  pending_ = any();
}

void CapAdmission::Leave(turn::SlotIndex slot) {
  present_.Remove(slot);
  client_[slot] = {};
  pending_ = any();
}

void CapAdmission::SetTurnsLast(bool last) {
  if (last == turns_last_) return;
  turns_last_ = last;
  pending_ = any();
}

bool CapAdmission::any() const {
  for (const turn::SlotIndex slot : present_) {
    if (client_[slot].cap != 0) return true;
  }
  return false;
}

std::vector<turn::SlotIndex> CapAdmission::BySeniority() const {
  std::vector<turn::SlotIndex> slots;
  for (const turn::SlotIndex slot : present_) slots.push_back(slot);
  std::sort(slots.begin(), slots.end(), [this](turn::SlotIndex a, turn::SlotIndex b) {
    return std::pair(client_[a].joined, a) < std::pair(client_[b].joined, b);
  });
  // Clients that began together are ordered by name. A chain of joins counts as one beginning.
  for (auto first = slots.begin(); first != slots.end();) {
    auto last = std::next(first);
    while (last != slots.end() && client_[*last].joined - client_[*std::prev(last)].joined <= kTogether)
      ++last;
    std::sort(first, last,
              [this](turn::SlotIndex a, turn::SlotIndex b) { return client_[a].gang < client_[b].gang; });
    first = last;
  }
  return slots;
}

std::vector<CapAdmission::Change> CapAdmission::Judge(const NeedOf& need) {
  for (const turn::SlotIndex slot : present_) {
    if (!need(slot).demand.known()) return {};
  }
  pending_ = false;
  return turns_last_ ? JudgeWholeTurns(need) : JudgeBySeniority(need);
}

// Judges the caps if turns stay whole, so that each turn of a job waits for one turn of every other job.
// Returns the clients whose result has changed.
std::vector<CapAdmission::Change> CapAdmission::JudgeWholeTurns(const NeedOf& need) {
  const auto turn = [&need](turn::SlotIndex slot) {
    const Need its = need(slot);
    return static_cast<double>(its.demand.alone()) / its.turns;
  };
  std::vector<Change> changes;
  double round = 0;
  for (const turn::SlotIndex slot : present_) round += turn(slot);
  for (const turn::SlotIndex slot : present_) {
    Client& client = client_[slot];
    if (client.cap == 0) continue;
    const double slowdown = round / turn(slot);
    const bool refused = slowdown > turn::kPromised * client.cap;
    if (refused != client.refused) {
      changes.push_back({slot, refused ? "max-slowdown " + Fixed(client.cap) +
                                             " refused: without MPS the jobs of a GPU take whole turns, and "
                                             "an iteration of this one would take " +
                                             Fixed(slowdown) + " times as long as alone, where at most " +
                                             Fixed(turn::kPromised * client.cap) +
                                             " can be promised; the job runs without that limit"
                                       : ""});
    }
    client.refused = refused;
  }
  return changes;
}

std::vector<CapAdmission::Change> CapAdmission::JudgeBySeniority(const NeedOf& need) {
  std::vector<Change> changes;
  std::vector<turn::SlotIndex> before;
  std::vector<turn::CappedDemand> promised;
  for (const turn::SlotIndex slot : BySeniority()) {
    Client& client = client_[slot];
    if (client.cap == 0) continue;
    promised.push_back({need(slot).demand, client.cap});
    const double part = turn::PartNeeded(promised, kHandOver);
    const bool refused = !before.empty() && part > turn::kPromised;
    if (refused != client.refused) changes.push_back({slot, refused ? Reason(slot, before, part) : ""});
    client.refused = refused;
    if (refused) {
      promised.pop_back();
    } else {
      before.push_back(slot);
    }
  }
  return changes;
}

std::string CapAdmission::Reason(turn::SlotIndex newcomer, const std::vector<turn::SlotIndex>& before,
                                 double part) const {
  std::string others;
  for (const turn::SlotIndex slot : before) {
    others += (others.empty() ? "" : ", ") + client_[slot].gang + " (" + Fixed(client_[slot].cap) + ")";
  }
  return "max-slowdown " + Fixed(client_[newcomer].cap) + " refused: beside " + others + " it would take " +
         Fixed(part) + " of what this GPU can give to keep all these limits, where at most " +
         Fixed(turn::kPromised) + " can be promised; the job runs on what they leave";
}

}  // namespace crossover::arbiter
