#include "deviceplugin/signaller/pages.h"

#include <algorithm>
#include <utility>

#include "deviceplugin/arbiter/futex_waitv.h"
#include "deviceplugin/signaller/signaller_messages.h"
#include "turn/signal_memory.h"

namespace crossover::signaller {

bool Pages::IsFree(std::uint32_t area) const {
  return std::none_of(pages_.begin(), pages_.end(),
                      [area](const Followed& page) { return page.area == area; });
}

std::uint32_t Pages::Add(std::shared_ptr<SignalMemory> memory, std::unique_ptr<FollowedPage> page,
                         std::uint32_t area, turn::Time now, std::string* error) {
  if (pages_.size() >= kMost) pages_.erase(pages_.begin());
  const std::uint32_t areas = turn::AreasOf(memory->bytes());
  if (areas <= kMost) {
    *error = "signal memory: expected room for more than " + std::to_string(kMost) + " areas, got " +
             std::to_string(areas);
    return 0;
  }
  if (area == 0) {
    do {
      last_area_ = last_area_ % areas + 1;
    } while (!IsFree(last_area_));
    area = last_area_;
    if (!memory->ResetArea(area, error)) return 0;
  } else {
    last_area_ = area;
  }
  for (Followed& old : pages_) old.drop_at = std::min(old.drop_at, now + kOldFor);
  pages_.push_back({.memory = std::move(memory), .page = std::move(page), .area = area});
  return area;
}

bool Pages::Look(turn::Time now, std::string* error) {
  for (Followed& followed : pages_) {
    for (const turn::SlotIndex slot : followed.follower.Look(*followed.page, now, followed.page->Clients())) {
      if (!followed.memory->WriteCome(followed.area, slot, error)) return false;
    }
    followed.page->CountAgain(followed.follower.again());
    followed.page->Beat();
  }
  while (pages_.size() > 1) {
    const auto old = std::find_if(pages_.begin(), pages_.end() - 1, [now](const Followed& page) {
      return !page.follower.busy() || now >= page.drop_at;
    });
    if (old == pages_.end() - 1) break;
    pages_.erase(old);
  }
  return true;
}

void Pages::Wait(turn::Time now, turn::Time longest) const {
  std::vector<arbiter::AwaitedWord> gates;
  turn::Time period = std::min(longest, kIdlePeriod);
  for (const Followed& followed : pages_) {
    for (turn::SlotIndex slot = 0; slot < turn::kMaxSlots; ++slot) {
      gates.push_back({followed.page->gate(slot), followed.follower.gate(slot)});
    }
    period = std::min(period, followed.follower.period());
  }
  arbiter::FutexWaitv(gates, now + period);
}

}  // namespace crossover::signaller
