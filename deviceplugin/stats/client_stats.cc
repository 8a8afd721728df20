#include "deviceplugin/stats/client_stats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <set>
#include <utility>

namespace crossover::deviceplugin {
namespace {

using arbiter::EventKind;

bool Locked(std::uint32_t phase) {
  return phase == CROSSOVER_PHASE_LOCKED || phase == CROSSOVER_PHASE_TAKING;
}

MeasurementSource SourceOf(StepAlone::Source source) {
  switch (source) {
    case StepAlone::Source::kMeasured:
      return MeasurementSource::kMeasured;
    case StepAlone::Source::kRemembered:
      return MeasurementSource::kRemembered;
    case StepAlone::Source::kEstimated:
      break;
  }
  return MeasurementSource::kEstimated;
}

// Returns whether a later process of the job may use the step alone. It may if the step was measured. An
// estimate is made anew.
bool Memorable(const JobProfile& profile) {
  return profile.step_alone && profile.step_alone->source != MeasurementSource::kEstimated;
}

// Computes the gain of a GPU and its error. The main error (WholeJob::kInCompany) is the same for all jobs.
// The errors are therefore added, not their squares.
void FillGain(GpuView* view) {
  if (view->clients.size() < 2) return;
  double gain = 0;
  double error = 0;
  for (const ClientView& client : view->clients) {
    if (!client.slowdown) return;
    gain += 1 / *client.slowdown;
    error += client.slowdown_error / *client.slowdown;
  }
  view->gain = gain;
  view->gain_error = error / gain;
}

// The turns of one rank show the mean of that rank, and not the slowest rank of each iteration. That adds an
// error of this many times the jitter.
constexpr double kOneRank = 2;
// If no turns show how much iterations differ, they are taken to differ by this part of their mean.
constexpr double kSpreadUnknown = 0.1;

double ErrorOfOneRank(double jitter) {
  return std::hypot(WholeJob::kInCompany, kOneRank * std::max(0.0, jitter));
}

Precise PreciseOf(const StepAlone& alone) { return {alone.each, alone.error}; }

// Returns for how long the client's host launches nothing in an iteration, or nothing if that is not known.
// The client's process reports this value and is not trusted, so the result is at most `learned.away`.
std::optional<turn::Time> InputWaitOf(const arbiter::Member& member, const JobProfile& learned) {
  const turn::Time told = member.input_wait.load();
  if (!learned.away || told == 0) return std::nullopt;
  constexpr turn::Time kNsPerUs = 1000;
  return std::min(learned.away->value, (told - 1) * kNsPerUs);
}

bool Clocked(const std::optional<StepAlone>& alone) {
  return alone && alone->source != StepAlone::Source::kEstimated;
}

}  // namespace

std::string WhyUngated(const std::vector<ClientView>& clients, const turn::Stats& stats) {
  if (clients.empty()) return "";
  const std::uint32_t mode = clients.front().slot.mode;
  if (mode == CROSSOVER_MODE_GATE) return "";
  if (mode == CROSSOVER_MODE_OFF) return "the daemon's mode is off";
  if (clients.size() == 1) return kAloneOnItsGpu;
  for (const ClientView& client : clients) {
    if (client.member->observed)
      return "gang " + client.member->gang + " is only watched, because of its mode";
  }
  for (const ClientView& client : clients) {
    if (client.offender) return "gang " + client.member->gang + " held its turn too long, too often";
  }
  for (const ClientView& client : clients) {
    if (Locked(client.slot.phase)) continue;
    return "gang " + client.member->gang +
           (client.learned ? " learns its period anew" : " has not shown a period yet");
  }
  if (stats.way != turn::Way::kSideBySide) return kDaemonObserves;
  char text[128];
  std::snprintf(text, sizeof text,
                "turns do not gain enough: side by side %.2f times one after the other, by turns %.2f times",
                stats.rate_side_by_side, stats.rate_by_turns);
  return text;
}

void ClientStats::OnEvent(const arbiter::Event& event) {
  if (event.member == nullptr) return;
  if (event.kind == EventKind::kJoin) return Join(event);
  const auto gpu = gpus_.find(event.gpu->uuid);
  if (gpu == gpus_.end()) return;
  const auto found = gpu->second.clients.find(event.member->id);
  if (found == gpu->second.clients.end()) return;
  Client* client = &found->second;
  switch (event.kind) {
    case EventKind::kLeave:
      return Leave(event);
    case EventKind::kArrive:
    case EventKind::kHold:
    case EventKind::kRelease:
      return NoteTurn(&gpu->second, client, event);
    case EventKind::kStep:
      return NoteStep(client, event);
    case EventKind::kMeasure:
      return NoteMeasured(client, event);
    case EventKind::kMode:
      // A client that is not gated any more does not report the end of its turn.
      if (event.mode != CROSSOVER_MODE_GATE) {
        EndTurn(&gpu->second, client, event.at);
        client->asked = 0;
      }
      return NoteMode(&gpu->second, event);
    case EventKind::kCalls:
      client->calls = event.calls;
      return;
    case EventKind::kReductions:
      client->reductions = event.reductions;
      return;
    case EventKind::kGrantCap:
    case EventKind::kRefuseCap:
      client->cap_refused = event.kind == EventKind::kRefuseCap;
      return;
    case EventKind::kOffend:
    case EventKind::kPardon:
      client->offender = event.kind == EventKind::kOffend;
      return;
    default:
      return;
  }
}

void ClientStats::OnStats(const arbiter::GpuInfo& gpu, const turn::Stats& stats) {
  if (const auto found = gpus_.find(gpu.uuid); found != gpus_.end()) found->second.stats = stats;
}

void ClientStats::Join(const arbiter::Event& event) {
  if (gpus_.size() >= kMostGpus && !gpus_.contains(event.gpu->uuid)) {
    std::erase_if(gpus_, [](const auto& entry) { return entry.second.clients.empty(); });
  }
  Client& client = gpus_[event.gpu->uuid].clients[event.member->id];
  client.member = event.member;
  client.joined = client.company_since = event.at;
  if (const auto memory = memories_.find(JobOf(*event.member));
      memory != memories_.end() && Memorable(memory->second)) {
    const Measurement<turn::Time>& step = *memory->second.step_alone;
    client.alone = StepAlone{
        .each = step.value, .age = step.at, .source = StepAlone::Source::kRemembered, .error = step.error};
  }
  jobs_.erase(JobOf(*event.member));  // with another rank, whole iterations are collected anew
  Commit(&client);
  unregistered_.processes.erase({event.member->pid, event.gpu->uuid});
  NoteCompany(event.at);
}

void ClientStats::Leave(const arbiter::Event& event) {
  Gpu& gpu = gpus_[event.gpu->uuid];
  const auto client = gpu.clients.find(event.member->id);
  Remember(client->second);
  if (client->second.reductions != nullptr) {
    if (left_.size() >= kMostLeft) left_.erase(left_.begin());
    left_.push_back({client->second.member, client->second.reductions});
  }
  jobs_.erase(JobOf(*event.member));
  gpu.clients.erase(client);
  if (gpu.clients.empty()) NoteMode(&gpu, event);
  NoteCompany(event.at);
}

void ClientStats::EndTurn(Gpu* gpu, Client* client, turn::Time now) {
  if (client->held == 0) return;
  gpu->turns.push_back({client->member, client->held - client->waited, client->held, now});
  if (gpu->turns.size() > kTurnsKept) gpu->turns.pop_front();
  client->held = 0;
}

void ClientStats::NoteWhole(const Client& client, const arbiter::Event& event) {
  if (event.whole == turn::kNever || client.disturbed) return;
  const WholeJob::Part part = {client.member->id, event.iteration, event.position, event.turns};
  WholeJob& job = jobs_[JobOf(*client.member)];
  if (event.kind == EventKind::kArrive) return job.NoteAway(part, event.whole, event.at);
  if (event.kind == EventKind::kRelease) job.NoteTurn(part, event.whole, event.at);
}

// Takes the step alone from a few iterations during which the arbiter kept the other clients waiting. An
// earlier measurement counts too if the two agree, because the job has then not changed.
void ClientStats::NoteMeasured(Client* client, const arbiter::Event& event) {
  if (client->disturbed) return;
  const auto job = jobs_.find(JobOf(*client->member));
  const std::uint32_t ranks = client->member->gang_size;
  const double spread =
      job == jobs_.end() ? kSpreadUnknown : job->second.Spread(ranks).value_or(kSpreadUnknown);
  Precise measured = {event.duration, spread / std::sqrt(std::max(1.0, static_cast<double>(event.steps)))};
  if (Clocked(client->alone) && !Apart(measured, PreciseOf(*client->alone)))
    measured = Together(measured, PreciseOf(*client->alone));
  client->alone = StepAlone{.each = measured.value,
                            .age = event.at,
                            .source = StepAlone::Source::kMeasured,
                            .error = measured.error};
}

// Returns the step alone of a client, combined from the measurement, if there is one, and from what the turns
// of all the job's ranks here show. The more exact of the two counts for more. The result has the source of
// the measurement.
std::optional<StepAlone> ClientStats::AloneOf(const Client& client) const {
  const auto job = jobs_.find(JobOf(*client.member));
  if (!client.shares || job == jobs_.end()) return client.alone;
  const std::optional<Precise> by_turns = job->second.Alone(client.member->gang_size);
  if (!by_turns) return client.alone;
  StepAlone alone = client.alone.value_or(StepAlone{.source = StepAlone::Source::kEstimated});
  if (!Clocked(client.alone)) {
    alone.each = by_turns->value;
    alone.error = by_turns->error;
    return alone;
  }
  const Precise both = Together(PreciseOf(alone), *by_turns);
  alone.each = both.value;
  alone.error = both.error;
  return alone;
}

void ClientStats::NoteTurn(Gpu* gpu, Client* client, const arbiter::Event& event) {
  NoteWhole(*client, event);
  if (event.kind == EventKind::kArrive) {
    client->asked = event.at;
    return;
  }
  if (event.kind == EventKind::kHold) {
    ++client->turns;
    client->waits.Add(event.duration);
    client->waited = event.duration;
    client->asked = 0;
    client->held = event.at;
    return;
  }
  client->holds.Add(event.duration);
  EndTurn(gpu, client, event.at);
}

void ClientStats::LearnFrom(const arbiter::Event& event, Client* client) {
  if (client->shares && !Clocked(client->alone) && event.demand.known()) {
    client->alone = StepAlone{.each = event.demand.alone(),
                              .age = event.at,
                              .source = StepAlone::Source::kEstimated,
                              .error = ErrorOfOneRank(event.jitter)};
  }
  if (event.demand.known()) {
    client->profile.compute = {event.demand.busy, event.at, MeasurementSource::kTurns};
    client->profile.away = {event.demand.away, event.at, MeasurementSource::kTurns};
  }
  if (event.jitter >= 0) client->profile.jitter = {event.jitter, event.at, MeasurementSource::kTurns};
}

void ClientStats::NoteStep(Client* client, const arbiter::Event& event) {
  client->learned = true;
  if (!client->disturbed) {
    client->iterations += event.steps;
    LearnFrom(event, client);
  }
  // An iteration that began before the last change of company belongs to neither company.
  if (event.at - event.duration * event.steps < client->company_since) return;
  client->steps.Add(event.at, event.duration, event.steps);
  if (client->shares) return;
  if (const auto mean = client->steps.Mean()) {
    client->alone = StepAlone{.each = *mean,
                              .age = event.at,
                              .source = StepAlone::Source::kMeasured,
                              .error = client->steps.Error()};
  }
}

void ClientStats::NoteMode(Gpu* gpu, const arbiter::Event& event) {
  const bool gated = event.kind == EventKind::kMode && event.mode == CROSSOVER_MODE_GATE;
  if (gated && gpu->gated_since == 0) gpu->gated_since = event.at;
  if (gated || gpu->gated_since == 0) return;
  gpu->gated += event.at - gpu->gated_since;
  gpu->gated_since = 0;
}

// Updates which clients share and which are disturbed. A job that shares one of its GPUs counts as sharing on
// all of them, because it is slowed down on all of them.
void ClientStats::NoteCompany(turn::Time now) {
  const std::set<std::string> disturbed = DisturbedGangs();
  std::set<std::string> sharing = disturbed;
  for (const auto& [uuid, gpu] : gpus_) {
    if (gpu.clients.size() < 2) continue;
    for (const auto& [id, client] : gpu.clients) sharing.insert(client.member->gang);
  }
  for (auto& [uuid, gpu] : gpus_) {
    for (auto& [id, client] : gpu.clients) {
      const bool is_disturbed = disturbed.contains(client.member->gang);
      if (is_disturbed && !client.disturbed) Rollback(&client);
      client.disturbed = is_disturbed;
      const bool shares = sharing.contains(client.member->gang);
      if (shares == client.shares) continue;
      client.shares = shares;
      client.company_since = now;
      if (const auto step = client.steps.MeanAt(now)) client.step_before = step;
      client.steps.Clear();
    }
  }
}

void ClientStats::AddGangsOn(const std::string& uuid, std::set<std::string>* gangs) const {
  const auto gpu = gpus_.find(uuid);
  if (gpu == gpus_.end()) return;
  for (const auto& [id, client] : gpu->second.clients) gangs->insert(client.member->gang);
}

std::set<std::string> ClientStats::DisturbedGangs() const {
  std::set<std::string> gangs = unregistered_.gangs;
  for (const auto& [pid, uuid] : unregistered_.processes) AddGangsOn(uuid, &gangs);
  return gangs;
}

void ClientStats::Commit(Client* client) {
  client->committed_alone = client->alone;
  client->committed_profile = client->profile;
}

// Restores the figures of the last Commit(), except for the peak memory: the driver reports memory per
// process, so other processes do not falsify it.
void ClientStats::Rollback(Client* client) {
  const auto peak_memory = client->profile.peak_memory;
  client->alone = client->committed_alone;
  client->profile = client->committed_profile;
  client->profile.peak_memory = peak_memory;
}

void ClientStats::NoteUnregistered(UnregisteredProcesses unregistered, turn::Time now) {
  unregistered_ = std::move(unregistered);
  NoteCompany(now);
  std::set<std::string> marked = unregistered_.gangs;
  for (const std::string& uuid : unregistered_.found_out) AddGangsOn(uuid, &marked);
  for (auto& [uuid, gpu] : gpus_) {
    for (auto& [id, client] : gpu.clients) {
      if (!client.disturbed) Commit(&client);
      if (marked.contains(client.member->gang)) client.profile.disturbed = now;
    }
  }
}

JobProfile ClientStats::LearnedBy(const Client& client) const {
  JobProfile learned = client.profile;
  if (const std::optional<StepAlone> alone = AloneOf(client)) {
    learned.step_alone = {alone->each, alone->age, SourceOf(alone->source), alone->error};
  }
  return learned;
}

void ClientStats::Remember(const Client& client) {
  const JobKey job = JobOf(*client.member);
  JobProfile& memory = memories_[job];
  memory.job = job;
  Learn(LearnedBy(client), client.joined, &memory);
  if (memory.empty()) memories_.erase(job);
  Forget();
}

void ClientStats::Forget() {
  if (memories_.size() <= kMostMemories) return;
  memories_.erase(std::min_element(memories_.begin(), memories_.end(), [](const auto& a, const auto& b) {
    return a.second.newest() < b.second.newest();
  }));
}

void ClientStats::LoadProfile(const JobProfile& profile) {
  memories_[profile.job] = profile;
  Forget();
}

void ClientStats::NoteMemory(const arbiter::Member& member, std::uint64_t bytes, turn::Time now,
                             MeasurementSource source) {
  const auto gpu = gpus_.find(member.gpu->uuid);
  if (gpu == gpus_.end()) return;
  const auto client = gpu->second.clients.find(member.id);
  if (client == gpu->second.clients.end()) return;
  auto& peak = client->second.profile.peak_memory;
  if (bytes > 0 && (!peak || bytes > peak->value)) peak = {bytes, now, source};
}

std::optional<JobProfile> ClientStats::Profile(const JobKey& job) const {
  JobProfile profile;
  if (const auto memory = memories_.find(job); memory != memories_.end()) profile = memory->second;
  profile.job = job;
  if (Here(job) && Memorable(profile)) profile.step_alone->source = MeasurementSource::kRemembered;
  for (const auto& [uuid, gpu] : gpus_) {
    for (const auto& [id, client] : gpu.clients) {
      if (JobOf(*client.member) == job) Learn(LearnedBy(client), client.joined, &profile);
    }
  }
  if (profile.empty()) return std::nullopt;
  return profile;
}

bool ClientStats::Here(const JobKey& job) const {
  const std::vector<std::shared_ptr<const arbiter::Member>> members = Members();
  return std::any_of(members.begin(), members.end(),
                     [&job](const auto& member) { return JobOf(*member) == job; });
}

std::vector<std::shared_ptr<const arbiter::Member>> ClientStats::Members() const {
  std::vector<std::shared_ptr<const arbiter::Member>> members;
  for (const auto& [uuid, gpu] : gpus_) {
    for (const auto& [id, client] : gpu.clients) members.push_back(client.member);
  }
  return members;
}

std::vector<RankView> ClientStats::Ranks() const {
  std::vector<RankView> ranks;
  for (const auto& [uuid, gpu] : gpus_) {
    for (const auto& [id, client] : gpu.clients) {
      ranks.push_back({.member = client.member,
                       .learned = LearnedBy(client),
                       .joined = client.joined,
                       .iterations = client.iterations,
                       .disturbed = client.disturbed,
                       .calls = client.calls,
                       .wait = client.waits.Median(),
                       .input_wait = InputWaitOf(*client.member, client.profile),
                       .told_of_reductions = client.reductions != nullptr});
    }
  }
  return ranks;
}

std::vector<ReductionsView> ClientStats::Reductions() const {
  std::vector<ReductionsView> views;
  for (const auto& [uuid, gpu] : gpus_) {
    for (const auto& [id, client] : gpu.clients) {
      if (client.reductions != nullptr) views.push_back({client.member, client.reductions});
    }
  }
  return views;
}

void ClientStats::NotePlain(const arbiter::Member& member, base::ShrinkLevel asked,
                            base::PlainReason reason) {
  const auto gpu = gpus_.find(member.gpu->uuid);
  if (gpu == gpus_.end()) return;
  const auto client = gpu->second.clients.find(member.id);
  if (client == gpu->second.clients.end() || client->second.reductions != nullptr) return;
  crossover_reductions told{};
  told.asked = static_cast<std::uint32_t>(asked);
  told.reason = static_cast<std::uint32_t>(reason);
  told.span = CROSSOVER_SPAN_UNKNOWN;
  told.plain[told.reason] = 1;
  client->second.reductions = std::make_shared<const crossover_reductions>(told);
}

ClientView ClientStats::View(const Client& client, turn::Time now, const SlotSnapshot& slot) const {
  ClientView view;
  view.member = client.member;
  view.slot = slot;
  view.connected_for = now - client.joined;
  view.learned = client.learned || client.turns != 0 || Locked(slot.phase);
  view.offender = client.offender;
  view.cap_refused = client.cap_refused;
  view.shares = client.shares;
  view.reductions = client.reductions;
  view.turns = client.turns;
  if (slot.holding && client.held != 0) view.holds_for = now - client.held;
  if (slot.waiting && client.asked != 0) view.waits_for = now - client.asked;
  view.wait = client.waits.Median();
  view.hold = client.holds.Median();
  const std::optional<turn::Time> step = client.steps.MeanAt(now);
  view.step = step ? step : client.step_before;
  view.present_step = step;
  view.alone = AloneOf(client);
  if (client.profile.compute && client.profile.away) {
    view.compute = client.profile.compute->value;
    view.away = client.profile.away->value;
    view.input_wait = InputWaitOf(*client.member, client.profile);
  }
  if (view.alone) view.alone->age = now - view.alone->age;
  if (view.shares && step && view.alone && view.alone->each > 0) {
    view.slowdown = static_cast<double>(*step) / static_cast<double>(view.alone->each);
    view.slowdown_error = std::hypot(view.alone->error, client.steps.Error());
  }
  return view;
}

std::vector<GpuView> ClientStats::Gpus(turn::Time now, const ReadSlot& read) const {
  std::vector<GpuView> views;
  for (const auto& [uuid, gpu] : gpus_) {
    GpuView& view = views.emplace_back();
    view.uuid = uuid;
    view.stats = gpu.stats;
    view.gated_for = gpu.gated + (gpu.gated_since == 0 ? 0 : now - gpu.gated_since);
    for (const auto& [id, client] : gpu.clients)
      view.clients.push_back(View(client, now, read(*client.member)));
    std::sort(view.clients.begin(), view.clients.end(),
              [](const ClientView& a, const ClientView& b) { return a.member->gang < b.member->gang; });
    FillGain(&view);
    view.why_ungated = WhyUngated(view.clients, view.stats);
  }
  return views;
}

std::vector<TurnView> ClientStats::Turns(const std::string& uuid, turn::Time since) const {
  std::vector<TurnView> turns;
  for (const auto& [name, gpu] : gpus_) {
    if (!uuid.empty() && name != uuid) continue;
    for (const TurnView& turn : gpu.turns) {
      if (turn.ended >= since) turns.push_back(turn);
    }
    for (const auto& [id, client] : gpu.clients) {
      if (client.held != 0) turns.push_back({client.member, client.held - client.waited, client.held, 0});
    }
  }
  return turns;
}

}  // namespace crossover::deviceplugin
