#include "sidecar/link/leftovers.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/gate.h"
#include "sidecar/threads/thread.h"

namespace crossover::link {
namespace {

constexpr std::int64_t kOpenAgainNs = 20 * base::kNsPerMs;
constexpr std::int64_t kAnywayNs = 60 * base::kNsPerSecond;
constexpr std::int64_t kWaitsNs = 3600 * base::kNsPerSecond;

}  // namespace

void Leftovers::Add(const Membership& left, turn::TurnNumber asked) {
  bool start = false;
  {
    const base::Locked locked(mutex_);
    Note({left, asked, base::MonotonicNs()});
    start = !std::exchange(running_, true);
  }
  if (start) Start();
}

void Leftovers::Start() {
  if (threads::StartThread(&Leftovers::Run, this)) return;
  const base::Locked locked(mutex_);
  running_ = false;
}

void Leftovers::Tend() {
  {
    const base::Locked locked(mutex_);
    if (running_ || count_ == 0) return;
    running_ = true;
  }
  if (Open()) Start();
}

void Leftovers::Note(const Leftover& leftover) {
  Leftover* const end = leftovers_ + count_;
  Leftover* const same = std::find_if(leftovers_, end, [&](const Leftover& other) {
    return other.left.page == leftover.left.page;  // a page stays mapped: no other page ever lies there
  });
  if (same != end) {
    *same = leftover;
  } else if (count_ < kMost) {
    leftovers_[count_++] = leftover;
  } else {
    Leftover* const done = std::find_if(leftovers_, end, [](const Leftover& other) {
      return !Waits(other.left.page->slot[other.left.slot], other.asked);
    });
    Leftover* const gone = done != end ? done : leftovers_;
    std::move(gone + 1, end, gone);
    leftovers_[kMost - 1] = leftover;
  }
}

void* Leftovers::Run(void* self) {
  threads::NameThread();
  while (static_cast<Leftovers*>(self)->Open()) {
    const timespec pause{0, kOpenAgainNs};
    ::nanosleep(&pause, nullptr);
  }
  return nullptr;
}

// Returns whether, by the words of the slot, a stream of this process still waits for turn `asked`. If the
// arbiter has given the slot to another client, `alive` is not 0 and the words are that client's.
bool Leftovers::Waits(const crossover_slot& slot, turn::TurnNumber asked) {
  return base::LoadWord(&slot.alive) == 0 && !turn::AtOrPast(base::LoadWord(&slot.hold), asked);
}

bool Leftovers::Over(const crossover_slot& slot, turn::TurnNumber asked, std::int64_t since_ns) {
  return since_ns > (Waits(slot, asked) ? kWaitsNs : kAnywayNs);
}

// Opens the gates of all turnstiles that still need it, and drops the others. Returns false if none is left;
// the thread then ends.
bool Leftovers::Open() {
  const base::Locked locked(mutex_);
  const std::int64_t now = base::MonotonicNs();
  Leftover* const end = leftovers_ + count_;
  Leftover* const kept = std::remove_if(leftovers_, end, [now](const Leftover& leftover) {
    return Over(leftover.left.page->slot[leftover.left.slot], leftover.asked, now - leftover.since_ns);
  });
  count_ = static_cast<std::size_t>(kept - leftovers_);
  for (const Leftover* open = leftovers_; open != kept; ++open) {
    gates::OpenOwnGate(open->left.page, open->left.slot, open->asked);
  }
  running_ = count_ > 0;
  return running_;
}

}  // namespace crossover::link
