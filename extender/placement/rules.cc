#include "extender/placement/rules.h"

#include <array>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "extender/placement/consent.h"
#include "extender/placement/memory.h"

namespace crossover::placement {
namespace {

// An Outlook holds the gain of the gangs on the set, and the prediction for them together with the
// newcomer.
struct Outlook {
  double before = 1;
  Prediction together;
};

Outlook OutlookOf(const Meeting& meeting) {
  const bool spans = meeting.site.spans;
  // A decision calls this for hundreds of thousands of pairs. The buffer saves an allocation for each.
  alignas(const Gang*) std::array<std::byte, 16 * sizeof(const Gang*)> room;
  std::pmr::monotonic_buffer_resource memory(room.data(), room.size());
  std::pmr::vector<const Gang*> all(&memory);
  all.reserve(meeting.there.size() + 1);
  all.assign(meeting.there.begin(), meeting.there.end());
  all.push_back(&meeting.newcomer);
  Outlook outlook{.together = Expect(all, spans, meeting.history, meeting.settings)};
  if (meeting.there.size() > 1) {
    outlook.before = Expect(meeting.there, spans, meeting.history, meeting.settings).gain;
  }
  return outlook;
}

// Returns the first rule that the newcomer breaks with this one gang, or nothing.
std::optional<Rule> BrokenByPair(const Gang& there, const Meeting& meeting) {
  const Gang& newcomer = meeting.newcomer;
  if (BreaksTwoRanks(there, newcomer)) return Rule::kTwoRanks;
  if (BreaksSameCount(there, newcomer)) return Rule::kSameCount;
  if (BreaksExclusive(there, newcomer)) return Rule::kExclusive;
  if (!MayMeet(there, newcomer, meeting.settings)) return Rule::kConsent;
  if (BreaksUser(there, newcomer, meeting.site)) return Rule::kUser;
  if (CapOf(there, meeting.settings) == 0) return Rule::kLearning;
  if (BreaksHistory(there, newcomer, meeting.history)) return Rule::kHistory;
  return std::nullopt;
}

}  // namespace

bool BreaksTwoRanks(const Gang& there, const Gang& newcomer) {
  return there.id == newcomer.id || (!there.job.empty() && there.job == newcomer.job);
}

bool BreaksSameCount(const Gang& there, const Gang& newcomer) { return there.gpus() != newcomer.gpus(); }

bool BreaksSlots(const Meeting& meeting) {
  return static_cast<int>(meeting.there.size()) + 1 > meeting.site.slots;
}

bool BreaksExclusive(const Gang& there, const Gang& newcomer) {
  return there.exclusive || newcomer.exclusive;
}

bool BreaksUser(const Gang& there, const Gang& newcomer, const GpuSetSpec& site) {
  const bool several = there.users != Users::kOne || newcomer.users != Users::kOne;
  return site.one_user && (several || there.uid != newcomer.uid);
}

bool BreaksMemoryUnknown(const GpuSetSpec& site) { return site.memory == 0; }

bool BreaksMemory(const Meeting& meeting) {
  const std::array newcomer{&meeting.newcomer};
  return MemoryOf(meeting.there, meeting.settings) + MemoryOf(newcomer, meeting.settings) >
         meeting.site.memory;
}

bool BreaksHistory(const Gang& there, const Gang& newcomer, const History& history) {
  const double gain = history.GainOf(there, newcomer);
  return gain > 0 && gain < 1;
}

bool BreaksGain(const Prediction& together, double before, const Settings& settings) {
  return together.gain < settings.min_gain * before || together.gain <= before;
}

std::optional<Violation> FirstViolation(const Meeting& meeting, Prediction* prediction) {
  for (const Gang* there : meeting.there) {
    if (const auto rule = BrokenByPair(*there, meeting)) return Violation{*rule, there};
  }
  // Such GPUs have one slot, so this says more than the next rule would.
  if (BreaksMemoryUnknown(meeting.site)) return Violation{Rule::kMemoryUnknown};
  if (BreaksSlots(meeting)) return Violation{Rule::kSlots};
  if (CapOf(meeting.newcomer, meeting.settings) == 0) return Violation{Rule::kLearning, &meeting.newcomer};
  const Gang* peer = meeting.there.empty() ? nullptr : meeting.there.front();
  if (BreaksMemory(meeting)) return Violation{Rule::kMemory, peer};

  Outlook outlook = OutlookOf(meeting);
  if (!outlook.together.caps_kept) return Violation{Rule::kSlowdown, peer};
  if (BreaksGain(outlook.together, outlook.before, meeting.settings)) {
    return Violation{Rule::kGain, peer, outlook.together.gain / outlook.before};
  }
  if (prediction != nullptr) *prediction = std::move(outlook.together);
  return std::nullopt;
}

}  // namespace crossover::placement
