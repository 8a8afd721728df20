#include "deviceplugin/stats/stats_store.h"

#include <algorithm>
#include <utility>

namespace crossover::deviceplugin {
namespace {

SlotSnapshot ReadPage(const arbiter::Member& member) {
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

void StatsStore::OnEvent(const arbiter::Event& event) {
  const std::lock_guard lock(mutex_);
  client_stats_.OnEvent(event);
  if (!ToldToWatchers(event.kind)) return;
  for (const auto& weak : subscriptions_) {
    if (const auto subscription = weak.lock()) subscription->Put(event);
  }
}

void StatsStore::OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) {
  const std::lock_guard lock(mutex_);
  client_stats_.OnStats(gpu, stats);
}

void StatsStore::OnDropped(std::uint64_t events) {
  const std::lock_guard lock(mutex_);
  dropped_ += events;
}

void StatsStore::LoadProfile(const JobProfile& profile) {
  const std::lock_guard lock(mutex_);
  client_stats_.LoadProfile(profile);
}

void StatsStore::NoteMemory(const arbiter::Member& member, std::uint64_t bytes) {
  const std::lock_guard lock(mutex_);
  client_stats_.NoteMemory(member, bytes, base::MonotonicNs());
}

void StatsStore::NoteRefusals(const arbiter::Member& member) {
  const SlotSnapshot slot = ReadPage(member);
  if (slot.memory_refusals == 0 || slot.memory_budget_mib == 0) return;
  const std::uint64_t needed = (static_cast<std::uint64_t>(slot.memory_budget_mib) << 20) / 2 * 3;
  const std::lock_guard lock(mutex_);
  client_stats_.NoteMemory(member, needed, base::MonotonicNs(), MeasurementSource::kRefused);
}

void StatsStore::NoteUnregistered(UnregisteredProcesses unregistered) {
  const std::lock_guard lock(mutex_);
  client_stats_.NoteUnregistered(std::move(unregistered), base::MonotonicNs());
}

std::optional<JobProfile> StatsStore::Profile(const JobKey& job) const {
  const std::lock_guard lock(mutex_);
  return client_stats_.Profile(job);
}

bool StatsStore::Here(const JobKey& job) const {
  const std::lock_guard lock(mutex_);
  return client_stats_.Here(job);
}

std::vector<RankView> StatsStore::Ranks() const {
  const std::lock_guard lock(mutex_);
  return client_stats_.Ranks();
}

std::vector<ReductionsView> StatsStore::Reductions() const {
  const std::lock_guard lock(mutex_);
  return client_stats_.Reductions();
}

void StatsStore::NotePlain(const arbiter::Member& member, base::ShrinkLevel asked, base::PlainReason reason) {
  const std::lock_guard lock(mutex_);
  client_stats_.NotePlain(member, asked, reason);
}

std::vector<ReductionsView> StatsStore::TakeReductionsOfLeft() {
  const std::lock_guard lock(mutex_);
  return client_stats_.TakeReductionsOfLeft();
}

std::vector<std::shared_ptr<const arbiter::Member>> StatsStore::Members() const {
  const std::lock_guard lock(mutex_);
  return client_stats_.Members();
}

std::vector<GpuView> StatsStore::Gpus() const {
  const std::lock_guard lock(mutex_);
  return client_stats_.Gpus(base::MonotonicNs(), ReadPage);
}

std::vector<TurnView> StatsStore::Turns(const std::string& uuid, turn::Time since) const {
  const std::lock_guard lock(mutex_);
  return client_stats_.Turns(uuid, since);
}

std::uint64_t StatsStore::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

std::shared_ptr<EventSubscription> StatsStore::Watch() {
  const std::lock_guard lock(mutex_);
  std::erase_if(subscriptions_, [](const auto& weak) { return weak.expired(); });
  if (ended_ || subscriptions_.size() >= kMostWatchers) return nullptr;
  auto subscription = std::make_shared<EventSubscription>();
  subscriptions_.push_back(subscription);
  return subscription;
}

void StatsStore::EndWatches() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  for (const auto& weak : subscriptions_) {
    if (const auto subscription = weak.lock()) subscription->End();
  }
}

}  // namespace crossover::deviceplugin
