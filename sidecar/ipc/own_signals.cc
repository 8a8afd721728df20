#include "sidecar/ipc/own_signals.h"

#include <time.h>

#include <algorithm>
#include <utility>

#include "common/base/clock.h"
#include "common/base/futex.h"
#include "common/base/timespec.h"
#include "sidecar/threads/thread.h"
#include "turn/signal.h"

namespace crossover::ipc {
namespace {

// A host is some iterations ahead of its GPU, so most waits are over soon.
constexpr std::int64_t kSoonNs = base::kNsPerMs;
constexpr std::int64_t kSoonForNs = 10 * base::kNsPerSecond;
constexpr std::int64_t kLaterNs = 20 * base::kNsPerMs;
constexpr std::int64_t kLongestNs = 3600 * base::kNsPerSecond;

bool SaysOver(const Awaited& awaited) {
  return turn::AtOrPast(base::LoadWord(&awaited.slot->hold), awaited.newest);
}

}  // namespace

void OwnSignals::Add(const Awaited& awaited, Copies* copies) {
  bool start = false;
  {
    const base::Locked locked(mutex_);
    copies_ = copies;
    Note(awaited);
    start = !std::exchange(running_, true);
  }
  if (!start || threads::StartThread(&OwnSignals::Run, this)) return;
  const base::Locked locked(mutex_);
  running_ = false;
}

void OwnSignals::Note(const Awaited& awaited) {
  Entry* const end = entries_ + count_;
  Entry* entry =
      std::find_if(entries_, end, [&](const Entry& other) { return other.awaited.signal == awaited.signal; });
  if (entry == end && count_ == kMost) {
    std::move(entries_ + 1, end, entries_);
    --entry;
  } else if (entry == end) {
    ++count_;
  }
  *entry = {awaited, base::MonotonicNs()};
}

bool OwnSignals::writes() {
  const base::Locked locked(mutex_);
  return running_;
}

Copies& OwnSignals::Using() {
  const base::Locked locked(mutex_);
  return *copies_;
}

void* OwnSignals::Run(void* self) {
  threads::NameThread();
  auto* own = static_cast<OwnSignals*>(self);
  Copies& copies = own->Using();
  copies.Enter();
  std::int64_t pause_ns = kSoonNs;
  while (own->WriteAll(copies, &pause_ns)) {
    const timespec pause = base::TimespecOf(pause_ns);
    ::nanosleep(&pause, nullptr);
  }
  return nullptr;
}

// Writes the signals that streams still wait for, and drops the others. Returns false if none is left; the
// thread then ends. Calls the driver without the lock: a driver may keep its caller for long.
bool OwnSignals::WriteAll(Copies& copies, std::int64_t* pause_ns) {
  CUdeviceptr due[kMost];
  const std::size_t count = Due(due, pause_ns);
  if (count == 0) return false;
  const Copies::Progress before = copies.Ask();
  bool fails = before == Copies::Progress::kFailed;
  if (before == Copies::Progress::kDone) {  // otherwise copies that have not begun yet write the signals, too
    for (std::size_t i = 0; i < count; ++i) fails = !copies.Write(due[i], turn::kSignalCome) || fails;
  }
  if (!fails) return true;
  const base::Locked locked(mutex_);  // a driver that fails will fail again
  count_ = 0;
  running_ = false;
  return false;
}

std::size_t OwnSignals::Due(CUdeviceptr* due, std::int64_t* pause_ns) {
  const base::Locked locked(mutex_);
  const std::int64_t now = base::MonotonicNs();
  *pause_ns = kLaterNs;
  Entry* const kept = std::remove_if(entries_, entries_ + count_, [&](const Entry& entry) {
    const std::int64_t age = now - entry.since_ns;
    return age > kLongestNs || (age > anyway_ns_ && SaysOver(entry.awaited));
  });
  count_ = static_cast<std::size_t>(kept - entries_);
  running_ = count_ > 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (now - entries_[i].since_ns < kSoonForNs && !SaysOver(entries_[i].awaited)) *pause_ns = kSoonNs;
    due[i] = entries_[i].awaited.signal;
  }
  return count_;
}

}  // namespace crossover::ipc
