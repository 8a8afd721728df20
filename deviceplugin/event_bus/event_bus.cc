#include "deviceplugin/event_bus/event_bus.h"

#include <sys/prctl.h>

#include <chrono>
#include <utility>

#include "common/logging/log.h"

namespace crossover::deviceplugin {
namespace {

// An event does not wake the event bus's thread: the event waits for the next round. A hundred GPUs at full
// speed produce some 10,000 events in one round.
constexpr std::chrono::milliseconds kRound{100};
constexpr std::size_t kMostItems = 65'536;

logging::Level LevelOf(arbiter::LogLevel level) {
  switch (level) {
    case arbiter::LogLevel::kError:
      return logging::Level::kError;
    case arbiter::LogLevel::kWarn:
      return logging::Level::kWarn;
    case arbiter::LogLevel::kInfo:
      return logging::Level::kInfo;
    case arbiter::LogLevel::kDebug:
      break;
  }
  return logging::Level::kDebug;
}

// Returns whether an item reports that a client joins or leaves. The queue has room for such items even when
// it drops others: a sink that missed one would keep clients that are gone.
template <class Item>
bool MustBeKnown(const Item& item) {
  const auto* event = std::get_if<arbiter::Event>(&item);
  return event != nullptr &&
         (event->kind == arbiter::EventKind::kJoin || event->kind == arbiter::EventKind::kLeave);
}

}  // namespace

EventBus::EventBus(std::vector<Sink*> sinks) : sinks_(std::move(sinks)), thread_([this] { Run(); }) {}

EventBus::~EventBus() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void EventBus::OnEvent(const arbiter::Event& event) { Put(event); }

void EventBus::OnLog(arbiter::LogLevel level, std::string line) { Put(LogLine{level, std::move(line)}); }

void EventBus::OnStats(const std::shared_ptr<const arbiter::GpuInfo>& gpu, const turn::Stats& stats) {
  Put(StatsOf{gpu, stats});
}

void EventBus::Put(Item item) {
  const std::lock_guard lock(mutex_);
  if (items_.size() < (MustBeKnown(item) ? 2 * kMostItems : kMostItems)) {
    items_.push_back(std::move(item));
  } else {
    ++dropped_;
  }
}

void EventBus::Run() {
  prctl(PR_SET_NAME, "xo-recorder");
  std::vector<Item> items;
  bool stop = false;
  while (!stop) {
    std::uint64_t dropped = 0;
    items.clear();  // not under the lock: the arbiter would wait for it
    {
      std::unique_lock lock(mutex_);
      wake_.wait_for(lock, kRound, [this] { return stop_; });
      stop = stop_;
      std::swap(items, items_);
      dropped = std::exchange(dropped_, 0);
    }
    Deliver(items, dropped);
  }
}

void EventBus::Deliver(const std::vector<Item>& items, std::uint64_t dropped) {
  for (const Item& item : items) {
    if (const auto* line = std::get_if<LogLine>(&item)) {
      logging::Write(LevelOf(line->level), line->text);
      continue;
    }
    for (Sink* sink : sinks_) {
      if (const auto* event = std::get_if<arbiter::Event>(&item)) sink->OnEvent(*event);
      if (const auto* stats = std::get_if<StatsOf>(&item)) sink->OnStats(*stats->gpu, stats->stats);
    }
  }
  for (Sink* sink : sinks_) {
    if (dropped != 0) sink->OnDropped(dropped);
    sink->Flush();
  }
}

}  // namespace crossover::deviceplugin
