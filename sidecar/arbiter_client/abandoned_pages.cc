#include "sidecar/arbiter_client/abandoned_pages.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "sidecar/gates/gate.h"
#include "sidecar/threads/thread.h"

namespace crossover::arbiter_client {
namespace {

constexpr std::int64_t kOpenAgainNs = 20 * base::kNsPerMs;
constexpr std::int64_t kAnywayNs = 60 * base::kNsPerSecond;
constexpr std::int64_t kWaitsNs = 3600 * base::kNsPerSecond;

}  // namespace

void AbandonedPages::Add(const Membership& left, turn::TurnNumber asked) {
  bool start = false;
  {
    const base::Locked locked(mutex_);
    Note({left, asked, base::MonotonicNs()});
    start = !std::exchange(running_, true);
  }
  if (start) Start();
}

void AbandonedPages::Start() {
  if (threads::StartThread(&AbandonedPages::Run, this)) return;
  const base::Locked locked(mutex_);
  running_ = false;
}

void AbandonedPages::Tend() {
  {
    const base::Locked locked(mutex_);
    if (running_ || count_ == 0) return;
    running_ = true;
  }
  if (Open()) Start();
}

void AbandonedPages::Note(const AbandonedPage& page) {
  AbandonedPage* const end = abandoned_pages_ + count_;
  AbandonedPage* const same = std::find_if(abandoned_pages_, end, [&](const AbandonedPage& other) {
    return other.left.page == page.left.page;  // a page stays mapped: no other page ever lies there
  });
  if (same != end) {
    *same = page;
  } else if (count_ < kMost) {
    abandoned_pages_[count_++] = page;
  } else {
    AbandonedPage* const done = std::find_if(abandoned_pages_, end, [](const AbandonedPage& other) {
      return !Waits(other.left.page->slot[other.left.slot], other.asked);
    });
    AbandonedPage* const gone = done != end ? done : abandoned_pages_;
    std::move(gone + 1, end, gone);
    abandoned_pages_[kMost - 1] = page;
  }
}

void* AbandonedPages::Run(void* self) {
  threads::NameThread();
  while (static_cast<AbandonedPages*>(self)->Open()) {
    const timespec pause{0, kOpenAgainNs};
    ::nanosleep(&pause, nullptr);
  }
  return nullptr;
}

// Returns whether, by the words of the slot, a stream of this process still waits for turn `asked`. If the
// arbiter has given the slot to another client, `alive` is not 0 and the words are that client's.
bool AbandonedPages::Waits(const crossover_slot& slot, turn::TurnNumber asked) {
  return base::LoadWord(&slot.alive) == 0 && !turn::AtOrPast(base::LoadWord(&slot.hold), asked);
}

bool AbandonedPages::Over(const crossover_slot& slot, turn::TurnNumber asked, std::int64_t since_ns) {
  return since_ns > (Waits(slot, asked) ? kWaitsNs : kAnywayNs);
}

// Opens the gates of all turnstiles that still need it, and drops the others. Returns false if none is left;
// the thread then ends.
bool AbandonedPages::Open() {
  const base::Locked locked(mutex_);
  const std::int64_t now = base::MonotonicNs();
  AbandonedPage* const end = abandoned_pages_ + count_;
  AbandonedPage* const kept = std::remove_if(abandoned_pages_, end, [now](const AbandonedPage& page) {
    return Over(page.left.page->slot[page.left.slot], page.asked, now - page.since_ns);
  });
  count_ = static_cast<std::size_t>(kept - abandoned_pages_);
  for (const AbandonedPage* open = abandoned_pages_; open != kept; ++open) {
    gates::OpenOwnGate(open->left.page, open->left.slot, open->asked);
  }
  running_ = count_ > 0;
  return running_;
}

}  // namespace crossover::arbiter_client
