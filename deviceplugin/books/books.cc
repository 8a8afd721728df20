#include "deviceplugin/books/books.h"

#include <algorithm>
#include <utility>

namespace crossover::deviceplugin {
namespace {

Words ReadPage(const arbiter::Member& member) {
  const arbiter::Page& page = *member.gpu->page;
  crossover_slot& slot = page.slot(member.slot);
  const arbiter::PageMemory memory(page);
  const turn::ClientWords client = turn::ReadClient(memory, member.slot);
  return {.mode = arbiter::Atomic(slot.mode).load(),
          .phase = arbiter::Atomic(slot.phase).load(),
          .faults = arbiter::Atomic(slot.faults).load(),
          .watch_reason = arbiter::Atomic(slot.watch_reason).load(),
          .memory_budget_mib = arbiter::Atomic(slot.memory_budget_mib).load(),
          .memory_used_mib = arbiter::Atomic(slot.memory_used_mib).load(),
          .memory_refusals = arbiter::Atomic(slot.memory_refusals).load(),
          .holding = client.holding(),
          .waiting = client.waiting()};
}

}  // namespace

void Books::OnEvent(const arbiter::Event& event) {
  const std::lock_guard lock(mutex_);
  ledger_.OnEvent(event);
  if (!ToldToWatchers(event.kind)) return;
  for (const auto& weak : feeds_) {
    if (const auto feed = weak.lock()) feed->Put(event);
  }
}

void Books::OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) {
  const std::lock_guard lock(mutex_);
  ledger_.OnStats(gpu, stats);
}

void Books::OnDropped(std::uint64_t events) {
  const std::lock_guard lock(mutex_);
  dropped_ += events;
}

void Books::Teach(const JobProfile& profile) {
  const std::lock_guard lock(mutex_);
  ledger_.Teach(profile);
}

void Books::NoteMemory(const arbiter::Member& member, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  ledger_.NoteMemory(member, bytes, base::MonotonicNs());
}

void Books::NoteRefusals(const arbiter::Member& member) {
  const Words words = ReadPage(member);
  if (words.memory_refusals == 0 || words.memory_budget_mib == 0) return;
  const std::uint64_t needed = (static_cast<std::uint64_t>(words.memory_budget_mib) << 20) / 2 * 3;
  const std::lock_guard lock(mutex_);
  ledger_.NoteMemory(member, needed, base::MonotonicNs(), FigureSource::kRefused);
}

void Books::NoteUnheard(Unheard unheard) {
  const std::lock_guard lock(mutex_);
  ledger_.NoteUnheard(std::move(unheard), base::MonotonicNs());
}

std::optional<JobProfile> Books::Profile(const JobKey& job) const {
  const std::lock_guard lock(mutex_);
  return ledger_.Profile(job);
}

bool Books::Here(const JobKey& job) const {
  const std::lock_guard lock(mutex_);
  return ledger_.Here(job);
}

std::vector<RankView> Books::Ranks() const {
  const std::lock_guard lock(mutex_);
  return ledger_.Ranks();
}

std::vector<std::shared_ptr<const arbiter::Member>> Books::Members() const {
  const std::lock_guard lock(mutex_);
  return ledger_.Members();
}

std::vector<GpuView> Books::Gpus() const {
  const std::lock_guard lock(mutex_);
  return ledger_.Gpus(base::MonotonicNs(), ReadPage);
}

std::vector<TurnView> Books::Turns(const std::string& uuid, turn::Time since) const {
  const std::lock_guard lock(mutex_);
  return ledger_.Turns(uuid, since);
}

std::uint64_t Books::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::shared_ptr<TurnFeed> Books::Watch() {
  const std::lock_guard lock(mutex_);
  std::erase_if(feeds_, [](const auto& weak) { return weak.expired(); });
  if (ended_ || feeds_.size() >= kMostWatchers) return nullptr;
  auto feed = std::make_shared<TurnFeed>();
  feeds_.push_back(feed);
  return feed;
}

void Books::EndWatches() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const auto& weak : feeds_) {
    if (const auto feed = weak.lock()) feed->End();
  }
}

}  // namespace crossover::deviceplugin
