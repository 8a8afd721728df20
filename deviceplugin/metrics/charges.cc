#include "deviceplugin/metrics/charges.h"

#include <algorithm>

#include "proto/turnstile.h"

namespace crossover::deviceplugin {

using arbiter::EventKind;

void Charges::OnEvent(const arbiter::Event& event) {
  if (event.member == nullptr) return;
  const std::uint64_t id = event.member->id;
  if (event.kind == EventKind::kJoin) {
    Gpu& gpu = gpus_.try_emplace(event.gpu->uuid, Gpu{.since = event.at, .clients = {}, .holders = {}})
                   .first->second;
    AdvanceGpu(&gpu, event.at);
    const Job job{event.gpu->uuid, event.member->name_space, event.member->gang};
    if (gpu.clients.emplace(id, job).second) ++accounts_[job].clients;
    Forget(event.at);
    return;
  }
  const auto found = gpus_.find(event.gpu->uuid);
  if (found == gpus_.end() || !found->second.clients.contains(id)) return;
  Gpu& gpu = found->second;
  AdvanceGpu(&gpu, event.at);
  switch (event.kind) {
    case EventKind::kHold:
      gpu.holders.insert(id);
      break;
    case EventKind::kRelease:
    case EventKind::kOpen:  // the client kept the turn for too long, and the others go on
      gpu.holders.erase(id);
      break;
    case EventKind::kMode:
      if (event.mode != CROSSOVER_MODE_GATE) gpu.holders.erase(id);
      break;
    case EventKind::kLeave:
      Leave(&gpu, id, event.at);
      if (gpu.clients.empty()) gpus_.erase(found);
      break;
    default:
      break;
  }
}

void Charges::Leave(Gpu* gpu, std::uint64_t id, turn::Time now) {
  Account& account = accounts_[gpu->clients.at(id)];
  if (--account.clients == 0) account.left = now;
  gpu->clients.erase(id);
  gpu->holders.erase(id);
}

void Charges::Advance(turn::Time now) {
  for (auto& [uuid, gpu] : gpus_) AdvanceGpu(&gpu, now);
  Forget(now);
}

void Charges::AdvanceGpu(Gpu* gpu, turn::Time now) {
  const turn::Time passed = now - gpu->since;
  if (passed <= 0) return;
  gpu->since = now;
  const auto parts =
      static_cast<turn::Time>(gpu->holders.empty() ? gpu->clients.size() : gpu->holders.size());
  for (const auto& [id, job] : gpu->clients) {
    if (gpu->holders.empty() || gpu->holders.contains(id)) accounts_[job].charged += passed / parts;
  }
}

void Charges::Forget(turn::Time now) {
  std::erase_if(accounts_, [now](const auto& entry) {
    return entry.second.clients == 0 && now - entry.second.left > kKept;
  });
  while (accounts_.size() > kMost) {
    const auto left_before = [](const auto& a, const auto& b) {
      return std::pair(a.second.clients != 0, a.second.left) <
             std::pair(b.second.clients != 0, b.second.left);
    };
    const auto oldest = std::min_element(accounts_.begin(), accounts_.end(), left_before);
    if (oldest->second.clients != 0) return;
    accounts_.erase(oldest);
  }
}

std::map<Charges::Job, turn::Time> Charges::Charged() const {
  std::map<Job, turn::Time> charged;
  for (const auto& [job, account] : accounts_) charged.emplace(job, account.charged);
  return charged;
}

}  // namespace crossover::deviceplugin
