#include "deviceplugin/rpc/api_messages.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "common/base/plain_reason.h"
#include "common/base/shrink_level.h"
#include "common/base/watch_reason.h"
#include "deviceplugin/stats/client_stats.h"
#include "proto/arbiter_protocol.h"

namespace crossover::deviceplugin {
namespace {

using node::v1::Job;

double Ms(turn::Time time) { return static_cast<double>(time) / 1e6; }
double Seconds(turn::Time time) { return static_cast<double>(time) / 1e9; }
const char* SourceName(StepAlone::Source source) {
  constexpr const char* kNames[] = {"measured", "remembered", "estimated"};
  return kNames[static_cast<std::size_t>(source)];
}
std::uint32_t Count(std::uint64_t count) { return static_cast<std::uint32_t>(count); }

// Returns why the clients of a GPU take no turns: the reason why the GPU is held, the reason in the GpuView,
// or both, because each alone keeps turns off. Drops kDaemonObserves if the daemon's mode is enforce: then
// the GPU is held, or the guard measures for a few iterations how fast the clients are side by side. On a
// held GPU, also drops kAloneOnItsGpu, because other processes may be there.
std::string WhyNoTurns(const GpuView& view, const std::string& held, arbiter::Policy in_force) {
  const bool enforced = view.why_ungated == kDaemonObserves && in_force == arbiter::Policy::kEnforce;
  const std::string why = enforced ? "" : view.why_ungated;
  if (held.empty() || view.clients.empty()) return why;
  return why.empty() || why == kAloneOnItsGpu ? held : held + "; " + why;
}

void Fill(const crossover_reductions& told, node::v1::Reductions* reductions) {
  reductions->set_asked(base::NameOfShrinkLevel(told.asked));
  for (std::uint32_t level = 0; level < std::size(told.narrowed); ++level) {
    if (told.narrowed[level] == 0) continue;
    node::v1::CompressedReductions* compressed = reductions->add_compressed();
    compressed->set_level(base::NameOfShrinkLevel(level));
    compressed->set_communicators(told.narrowed[level]);
  }
  for (std::uint32_t reason = 0; reason < std::size(told.plain); ++reason) {
    if (told.plain[reason] == 0) continue;
    const base::PlainReasonText& text = base::TextOf(base::PlainReason{reason});
    node::v1::PlainReductions* plain = reductions->add_plain();
    plain->set_reason(text.name);
    plain->set_words(text.words);
    plain->set_communicators(told.plain[reason]);
  }
}

}  // namespace

void Fill(const GpuView& view, const std::string& held, arbiter::Policy in_force, node::v1::Gpu* gpu) {
  gpu->set_uuid(view.uuid);
  gpu->set_mode(view.clients.empty() ? "observe" : arbiter::ModeName(view.clients.front().slot.mode));
  gpu->set_why_no_turns(WhyNoTurns(view, held, in_force));
  gpu->set_clients(Count(view.clients.size()));
  for (const ClientView& client : view.clients) {
    if (client.slot.holding) gpu->add_holders(client.member->gang);
    if (client.slot.waiting) gpu->add_waiting(client.member->gang);
    if (client.offender) gpu->add_offenders(client.member->gang);
  }
  if (view.gain) {
    gpu->set_gain(*view.gain);
    gpu->set_gain_error(view.gain_error);
    gpu->set_gain_uncertain(view.gain_uncertain());
  }
  gpu->set_turns(Count(view.stats.turns));
  gpu->set_handed_over(Count(view.stats.handed_over));
  gpu->set_granted(Count(view.stats.granted));
  gpu->set_watchdog_openings(Count(view.stats.opened));
  gpu->set_rest_s(Seconds(view.stats.rest_while_ready));
  if (view.gated_for > 0) {
    gpu->set_rest_ratio(Seconds(view.stats.rest_while_ready) / Seconds(view.gated_for));
  }
}

void Fill(const signals::Figures& figures, node::v1::Signals* signals) {
  signals->set_signallers(Count(static_cast<std::uint64_t>(figures.signallers)));
  if (figures.host.resident_bytes) signals->set_host_memory_bytes(*figures.host.resident_bytes);
  if (figures.host.cpu_seconds) signals->set_cpu_s(*figures.host.cpu_seconds);
  if (figures.exported_bytes != 0) {
    signals->set_device_memory_bytes(figures.exported_bytes);
    signals->set_device_memory_source(crossover::signals::kExported);
  }
  signals->set_late(Count(figures.again));
}

void Fill(const ClientView& view, node::v1::Client* client) {
  const arbiter::Member& member = *view.member;
  client->set_gang(member.gang);
  client->set_rank(member.rank);
  client->set_gpu_uuid(member.gpu->uuid);
  client->set_slot(member.slot);
  client->set_pid(static_cast<std::uint32_t>(member.pid));
  client->set_transport(arbiter::TransportName(member.transport));
  client->set_phase(arbiter::PhaseName(view.slot.phase));
  client->set_mode(arbiter::ModeName(view.slot.mode));
  client->set_connected_s(Seconds(view.connected_for));
  client->set_learned(view.learned);
  client->set_holding(view.slot.holding);
  client->set_waiting(view.slot.waiting);
  if (view.holds_for) client->set_holding_ms(Ms(*view.holds_for));
  if (view.waits_for) client->set_waiting_ms(Ms(*view.waits_for));
  client->set_turns(Count(view.turns));
  if (view.wait) client->set_wait_ms(Ms(*view.wait));
  if (view.compute) client->set_compute_ms(Ms(*view.compute));
  if (view.input_wait) client->set_input_wait_ms(Ms(*view.input_wait));
  if (view.hold) client->set_hold_ms(Ms(*view.hold));
  if (view.step) client->set_step_ms(Ms(*view.step));
  if (view.alone) {
    client->mutable_alone()->set_step_ms(Ms(view.alone->each));
    client->mutable_alone()->set_age_s(Seconds(view.alone->age));
    client->mutable_alone()->set_source(SourceName(view.alone->source));
    client->mutable_alone()->set_error(view.alone->error);
  }
  if (view.slowdown) client->set_slowdown(*view.slowdown);
  client->set_faults(view.slot.faults);
  client->set_offender(view.offender);
  if (member.max_slowdown != 0) client->set_max_slowdown(member.max_slowdown);
  client->set_max_slowdown_refused(view.cap_refused);
  client->set_watched_only(base::Text(base::WatchReason{view.slot.watch_reason}));
  if (view.reductions != nullptr) Fill(*view.reductions, client->mutable_reductions());
  if (view.slot.memory_budget_mib != 0) client->set_memory_budget_mib(view.slot.memory_budget_mib);
  if (view.slot.memory_used_mib != 0) client->set_memory_used_mib(view.slot.memory_used_mib);
}

void Fill(const TurnView& view, node::v1::Turn* turn) {
  turn->set_gpu_uuid(view.member->gpu->uuid);
  turn->set_gang(view.member->gang);
  turn->set_rank(view.member->rank);
  turn->set_slot(view.member->slot);
  turn->set_asked_s(Seconds(view.asked));
  turn->set_began_s(Seconds(view.began));
  if (view.ended != 0) turn->set_ended_s(Seconds(view.ended));
}

void Fill(const arbiter::Event& event, node::v1::TurnEvent* message) {
  message->set_at_s(Seconds(event.at));
  message->set_event(std::string(arbiter::Name(event.kind)));
  message->set_gpu_uuid(event.gpu->uuid);
  if (event.member != nullptr) {
    message->set_gang(event.member->gang);
    message->set_rank(event.member->rank);
    message->set_slot(event.member->slot);
  }
  if (event.kind == arbiter::EventKind::kHold || event.kind == arbiter::EventKind::kRelease) {
    message->set_duration_ms(Ms(event.duration));
  }
  if (event.kind == arbiter::EventKind::kMode) message->set_mode(arbiter::ModeName(event.mode));
}

void FillJobs(const std::vector<GpuView>& views, node::v1::Top* top) {
  struct Entry {
    Job job;
    std::set<std::string> shares_with;
  };
  std::map<std::pair<std::string, std::uint32_t>, Entry> jobs;
  for (const GpuView& gpu : views) {
    for (const ClientView& client : gpu.clients) {
      const arbiter::Member& member = *client.member;
      Entry& entry = jobs[{member.gang, member.uid}];
      entry.job.set_gang(member.gang);
      entry.job.set_size(member.gang_size);
      entry.job.set_uid(member.uid);
      Fill(client, entry.job.add_clients());
      if (client.step) entry.job.set_step_ms(std::max(entry.job.step_ms(), Ms(*client.step)));
      if (client.slowdown) entry.job.set_slowdown(std::max(entry.job.slowdown(), *client.slowdown));
      for (const ClientView& other : gpu.clients) {
        if (other.member->id != member.id) entry.shares_with.insert(other.member->gang);
      }
    }
  }
  for (auto& [key, entry] : jobs) {
    for (const std::string& gang : entry.shares_with) entry.job.add_shares_with(gang);
    top->add_jobs()->Swap(&entry.job);
  }
}

}  // namespace crossover::deviceplugin
