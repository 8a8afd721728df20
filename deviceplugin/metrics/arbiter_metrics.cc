#include "deviceplugin/metrics/arbiter_metrics.h"

#include <set>
#include <tuple>
#include <utility>

#include "common/base/watch_reason.h"
#include "common/metrics/families.h"
#include "deviceplugin/metrics/client_labels.h"
#include "deviceplugin/metrics/seconds.h"

namespace crossover::deviceplugin {
namespace {

using metrics::AddCounter;
using metrics::AddGauge;
using metrics::Family;
using metrics::Labels;
using prometheus::ClientMetric;
using prometheus::MetricFamily;
using prometheus::MetricType;

constexpr std::size_t kMostGpus = 64;                        // GPUs that are remembered
constexpr turn::Time kLatestEvent = 2 * base::kNsPerSecond;  // no event arrives later than this

// Hand-overs take microseconds, turns milliseconds, and a stuck neighbour fractions of a second.
const prometheus::Histogram::BucketBoundaries kSeconds = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                                          0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5};

void AddHistogram(MetricFamily* family, Labels labels, const prometheus::Histogram& histogram) {
  ClientMetric& metric = family->metric.emplace_back(histogram.Collect());
  metric.label = std::move(labels);
}

std::uint32_t ReadWord(std::uint32_t& word) { return arbiter::Atomic(word).load(std::memory_order_relaxed); }

double BytesOf(std::uint32_t mib) { return static_cast<double>(mib) * 1048576; }

}  // namespace

ArbiterMetrics::Client::Client(std::shared_ptr<const arbiter::Member> who)
    : member(std::move(who)), wait(kSeconds), hold(kSeconds) {}

void ArbiterMetrics::set_cpu_seconds(std::function<double()> cpu_seconds) {
  const std::lock_guard lock(mutex_);
  cpu_seconds_ = std::move(cpu_seconds);
}

void ArbiterMetrics::set_refusals(std::function<arbiter::Arbiter::Refusals()> refusals) {
  const std::lock_guard lock(mutex_);
  refusals_ = std::move(refusals);
}

void ArbiterMetrics::set_profile_failures(std::function<std::uint64_t()> failures) {
  const std::lock_guard lock(mutex_);
  profile_failures_ = std::move(failures);
}

void ArbiterMetrics::set_trace_lost(std::function<std::uint64_t()> lost) {
  const std::lock_guard lock(mutex_);
  trace_lost_ = std::move(lost);
}

void ArbiterMetrics::OnEvent(const arbiter::Event& event) {
  const std::lock_guard lock(mutex_);
  charges_.OnEvent(event);
  if (event.kind == arbiter::EventKind::kDamage) {
    MakeRoom(event.gpu->uuid);
    ++gpus_[event.gpu->uuid].damages;
  }
  if (event.member == nullptr) return;
  const std::uint64_t id = event.member->id;
  if (event.kind == arbiter::EventKind::kJoin) {
    MakeRoom(event.gpu->uuid);
    clients_.try_emplace(id, event.member);
    gpus_.try_emplace(event.gpu->uuid);
    return;
  }
  const auto client = clients_.find(id);
  if (client == clients_.end()) return;
  if (event.kind == arbiter::EventKind::kLeave) {
    clients_.erase(client);
  } else if (event.kind == arbiter::EventKind::kHold) {
    ++client->second.turns;
    client->second.wait.Observe(Seconds(event.duration));
  } else if (event.kind == arbiter::EventKind::kRelease) {
    client->second.hold.Observe(Seconds(event.duration));
  } else if (event.kind == arbiter::EventKind::kRefuseCap || event.kind == arbiter::EventKind::kGrantCap) {
    client->second.cap_refused = event.kind == arbiter::EventKind::kRefuseCap;
  }
}

void ArbiterMetrics::OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) {
  const std::lock_guard lock(mutex_);
  MakeRoom(gpu.uuid);
  gpus_[gpu.uuid].stats = stats;
}

// Drops GPUs without clients at the limit. Clients name the GPUs, so one client could name very many.
void ArbiterMetrics::MakeRoom(const std::string& uuid) {
  if (gpus_.size() < kMostGpus || gpus_.count(uuid) != 0) return;
  std::set<std::string> used;
  for (const auto& [id, client] : clients_) used.insert(client.member->gpu->uuid);
  std::erase_if(gpus_, [&used](const auto& entry) { return used.count(entry.first) == 0; });
}

void ArbiterMetrics::OnDropped(std::uint64_t events) {
  const std::lock_guard lock(mutex_);
  dropped_ += events;
}

std::vector<MetricFamily> ArbiterMetrics::Collect() const {
  const std::lock_guard lock(mutex_);
  Families families;
  CollectGpus(&families);
  charges_.Advance(base::MonotonicNs() - kLatestEvent);
  CollectCharges(&families);
  CollectClients(&families);
  CollectClaims(&families);
  CollectStates(&families);
  CollectDaemon(&families);
  return families;
}

void ArbiterMetrics::CollectGpus(Families* families) const {
  MetricFamily handovers =
      Family("crossover_handovers_total",
             "Turns begun, by who opened the gate: a client (another one or itself), or the arbiter.",
             MetricType::Counter);
  MetricFamily corrections = Family(
      "crossover_token_corrections_total",
      "Times the arbiter took back a turn that its client had not begun (revoke), made one (mint: the first, "
      "or for one that was lost or held too long) or removed a surplus one (swallow).",
      MetricType::Counter);
  MetricFamily preempted = Family("crossover_turns_preempted_total",
                                  "Turns broken at a yield point for another client.", MetricType::Counter);
  MetricFamily openings = Family(
      "crossover_watchdog_openings_total",
      "Times that a client held its turn too long and the others went on without it.", MetricType::Counter);
  MetricFamily rest = Family("crossover_turn_rest_while_ready_seconds_total",
                             "Time no client had the turn although one waited for it.", MetricType::Counter);
  MetricFamily held_back =
      Family("crossover_arrivals_held_back_total",
             "Polls in which a waiting client was kept back for one that goes before it and is about to "
             "come.",
             MetricType::Counter);
  MetricFamily trials =
      Family("crossover_guard_trials_total",
             "Times that the ways of sharing a GPU were tried against each other, or its jobs were measured "
             "alone.",
             MetricType::Counter);
  MetricFamily looked =
      Family("crossover_guard_trial_seconds_total",
             "Time that trials of the ways of sharing spent in other ways than the chosen one.",
             MetricType::Counter);
  MetricFamily lost = Family("crossover_guard_lost_seconds_total",
                             "How much longer trials of the ways of sharing took than the chosen way would "
                             "have taken for the same work.",
                             MetricType::Counter);
  MetricFamily rates =
      Family("crossover_guard_rate_ratio",
             "Work done per time in this way of sharing, relative to one job after the other, as measured "
             "last: by a trial, and for the chosen way also between trials.",
             MetricType::Gauge);
  MetricFamily damages = Family("crossover_turnstile_damages_total",
                                "Times that the turnstile of a GPU was written over by one of its clients.",
                                MetricType::Counter);
  for (const auto& [uuid, gpu] : gpus_) {
    const turn::Stats& stats = gpu.stats;
    if (stats.rate_by_turns > 0) {
      AddGauge(&rates, {{"gpu_uuid", uuid}, {"way", "by_turns"}}, stats.rate_by_turns);
    }
    if (stats.rate_side_by_side > 0) {
      AddGauge(&rates, {{"gpu_uuid", uuid}, {"way", "side_by_side"}}, stats.rate_side_by_side);
    }
    const auto count = [&uuid = uuid](MetricFamily* family, const char* label, const char* value, double n) {
      Labels labels = {{"gpu_uuid", uuid}};
      if (label != nullptr) labels.push_back({label, value});
      AddCounter(family, std::move(labels), n);
    };
    count(&handovers, "by", "client", static_cast<double>(stats.handed_over));
    count(&handovers, "by", "arbiter", static_cast<double>(stats.granted));
    count(&corrections, "action", "revoke", static_cast<double>(stats.revoked));
    count(&corrections, "action", "mint", static_cast<double>(stats.minted));
    count(&corrections, "action", "swallow", static_cast<double>(stats.swallowed));
    count(&preempted, nullptr, nullptr, static_cast<double>(stats.preempted));
    count(&openings, nullptr, nullptr, static_cast<double>(stats.opened));
    count(&rest, nullptr, nullptr, Seconds(stats.rest_while_ready));
    count(&held_back, nullptr, nullptr, static_cast<double>(stats.held_back));
    count(&trials, nullptr, nullptr, static_cast<double>(stats.trials));
    count(&looked, nullptr, nullptr, Seconds(stats.looked));
    count(&lost, nullptr, nullptr, Seconds(stats.lost));
    count(&damages, nullptr, nullptr, static_cast<double>(gpu.damages));
  }
  for (MetricFamily* family : {&handovers, &corrections, &preempted, &openings, &rest, &held_back, &trials,
                               &looked, &lost, &rates, &damages}) {
    families->push_back(std::move(*family));
  }
}

void ArbiterMetrics::CollectCharges(Families* families) const {
  MetricFamily seconds =
      Family("crossover_charged_gpu_seconds_total",
             "Time of a GPU that a job is charged for: its turns, and its part of the time in which no job "
             "has a turn.",
             MetricType::Counter);
  for (const auto& [job, charged] : charges_.Charged()) {
    Labels labels = {{"gpu_uuid", job.gpu_uuid}, {"gang", job.gang}};
    if (!job.name_space.empty()) labels.push_back({"namespace", job.name_space});
    AddCounter(&seconds, std::move(labels), Seconds(charged));
  }
  families->push_back(std::move(seconds));
}

void ArbiterMetrics::CollectClients(Families* families) const {
  MetricFamily turns =
      Family("crossover_turns_total",
             "Turns that a client began; of a turn that is broken, each part counts.", MetricType::Counter);
  MetricFamily wait = Family("crossover_turn_wait_seconds",
                             "Time from a client's arrival at its gate to the start of its turn, or of a "
                             "part of a turn that is broken.",
                             MetricType::Histogram);
  MetricFamily hold =
      Family("crossover_turn_hold_seconds",
             "Length of a client's turns, or of the parts of a turn that is broken.", MetricType::Histogram);
  MetricFamily refused =
      Family("crossover_cap_refused",
             "1 while a client's cap on slowdown is refused because it cannot be kept, else 0; of clients "
             "that have a cap.",
             MetricType::Gauge);
  for (const auto& [id, client] : clients_) {
    const arbiter::Member& member = *client.member;
    if (member.max_slowdown != 0) AddGauge(&refused, LabelsOf(member), client.cap_refused ? 1 : 0);
    AddCounter(&turns, LabelsOf(member), static_cast<double>(client.turns));
    AddHistogram(&wait, LabelsOf(member), client.wait);
    AddHistogram(&hold, LabelsOf(member), client.hold);
  }
  for (MetricFamily* family : {&turns, &wait, &hold, &refused}) families->push_back(std::move(*family));
}

// Collects the figures that clients write about themselves into their slots of the page. It reads the page
// now. Clients can write anything there.
void ArbiterMetrics::CollectClaims(Families* families) const {
  MetricFamily faults =
      Family("crossover_client_faults_total",
             "Times that a client opened its own gate because no other process did, as the client reports.",
             MetricType::Counter);
  MetricFamily used =
      Family("crossover_memory_used_bytes",
             "GPU memory that a client asked for and has not freed, by its own count.", MetricType::Gauge);
  MetricFamily budget =
      Family("crossover_memory_budget_bytes",
             "GPU memory that a client may have; of clients that have a budget.", MetricType::Gauge);
  MetricFamily refusals =
      Family("crossover_memory_refusals_total",
             "Allocations that were refused because they were over a client's budget.", MetricType::Counter);
  MetricFamily changes =
      Family("crossover_transport_changes_total",
             "Times that a client changed its way of taking turns (its transport).", MetricType::Counter);
  MetricFamily watched =
      Family("crossover_client_watched_only",
             "1 for a client that takes no turns in any mode, with the reason that the client reports.",
             MetricType::Gauge);
  for (const auto& [id, client] : clients_) {
    const arbiter::Member& member = *client.member;
    crossover_slot& slot = member.gpu->page->slot(member.slot);
    AddCounter(&faults, LabelsOf(member), ReadWord(slot.faults));
    AddCounter(&changes, LabelsOf(member), member.transport_changes);
    AddGauge(&used, LabelsOf(member), BytesOf(ReadWord(slot.memory_used_mib)));
    if (const std::uint32_t mib = ReadWord(slot.memory_budget_mib); mib != 0) {
      AddGauge(&budget, LabelsOf(member), BytesOf(mib));
      AddCounter(&refusals, LabelsOf(member), ReadWord(slot.memory_refusals));
    }
    const base::WatchReason why{ReadWord(slot.watch_reason)};
    if (why == base::WatchReason::kNone) continue;
    auto labels = LabelsOf(member);
    labels.push_back({"reason", base::Text(why)});
    AddGauge(&watched, labels, 1);
  }
  for (MetricFamily* family : {&faults, &changes, &used, &budget, &refusals, &watched})
    families->push_back(std::move(*family));
}

// Counts the clients in each combination of states. It reads the states from the page now.
void ArbiterMetrics::CollectStates(Families* families) const {
  using State = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<State, int> count;
  for (const auto& [id, client] : clients_) {
    const arbiter::Member& member = *client.member;
    crossover_slot& slot = member.gpu->page->slot(member.slot);
    ++count[{member.gpu->uuid, arbiter::ModeName(ReadWord(slot.mode)),
             arbiter::PhaseName(ReadWord(slot.phase)), arbiter::TransportName(member.transport)}];
  }
  MetricFamily clients = Family("crossover_clients",
                                "Clients by mode (what they are asked to do), by phase (how much of their "
                                "period they have learned), and by "
                                "transport (how they take turns).",
                                MetricType::Gauge);
  for (const auto& [state, n] : count) {
    const auto& [uuid, mode, phase, transport] = state;
    AddGauge(&clients, {{"gpu_uuid", uuid}, {"mode", mode}, {"phase", phase}, {"transport", transport}}, n);
  }
  families->push_back(std::move(clients));
}

void ArbiterMetrics::CollectDaemon(Families* families) const {
  if (cpu_seconds_) {
    MetricFamily cpu = Family("crossover_arbiter_cpu_seconds_total",
                              "Processor time of the thread that keeps the turns.", MetricType::Counter);
    AddCounter(&cpu, {}, cpu_seconds_());
    families->push_back(std::move(cpu));
  }
  if (refusals_) {
    MetricFamily refused = Family(
        "crossover_refused_clients_total",
        "Connections that the arbiter refused: there were too many, the client may not join, or what it sent "
        "is malformed, late or of another protocol version.",
        MetricType::Counter);
    const arbiter::Arbiter::Refusals refusals = refusals_();
    AddCounter(&refused, {{"reason", "too_many"}}, static_cast<double>(refusals.too_many));
    AddCounter(&refused, {{"reason", "not_allowed"}}, static_cast<double>(refusals.not_allowed));
    AddCounter(&refused, {{"reason", "malformed"}}, static_cast<double>(refusals.malformed));
    families->push_back(std::move(refused));
  }
  if (profile_failures_) {
    MetricFamily failures = Family("crossover_profile_write_failures_total",
                                   "Times that a job's profile could not be written.", MetricType::Counter);
    AddCounter(&failures, {}, static_cast<double>(profile_failures_()));
    families->push_back(std::move(failures));
  }
  if (trace_lost_) {
    MetricFamily lost =
        Family("crossover_trace_lost_events_total",
               "Events that the trace lost because its file could not be written.", MetricType::Counter);
    AddCounter(&lost, {}, static_cast<double>(trace_lost_()));
    families->push_back(std::move(lost));
  }
  MetricFamily dropped =
      Family("crossover_events_dropped_total",
             "Events, figures and log lines of the arbiter that were dropped because they came too fast.",
             MetricType::Counter);
  AddCounter(&dropped, {}, static_cast<double>(dropped_));
  families->push_back(std::move(dropped));
}

}  // namespace crossover::deviceplugin
