#include "deviceplugin/arbiter/gpu.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "deviceplugin/arbiter/poll_schedule.h"
#include "proto/arbiter_protocol.h"

namespace crossover::arbiter {
namespace {

// At most this much time passes between two polls of a GPU: while clients take turns, while several clients
// share it without turns, and while one client is alone. Without turns, the arbiter only watches the clients'
// phases.
constexpr turn::Time kLongestPollTakingTurns = base::kNsPerMs;
constexpr turn::Time kLongestPollShared = 10 * base::kNsPerMs;
constexpr turn::Time kLongestPollAlone = 100 * base::kNsPerMs;

// A client that is alone is measured this long after it was measured last.
constexpr turn::Time kMeasureAgain = 20 * base::kNsPerSecond;

EventKind KindOf(turn::Event::Kind kind) {
  switch (kind) {
    case turn::Event::Kind::kArrive:
      return EventKind::kArrive;
    case turn::Event::Kind::kHold:
      return EventKind::kHold;
    case turn::Event::Kind::kRelease:
      return EventKind::kRelease;
    case turn::Event::Kind::kGrant:
      return EventKind::kGrant;
    case turn::Event::Kind::kRevoke:
      return EventKind::kRevoke;
    case turn::Event::Kind::kMint:
      return EventKind::kMint;
    case turn::Event::Kind::kSwallow:
      return EventKind::kSwallow;
    case turn::Event::Kind::kOpen:
      break;
  }
  return EventKind::kOpen;
}

turn::Priority PriorityOf(std::uint32_t said) {
  if (said == CROSSOVER_PRIORITY_LOW) return turn::Priority::kLow;
  return said == CROSSOVER_PRIORITY_HIGH ? turn::Priority::kHigh : turn::Priority::kNormal;
}

// Returns the guard's rates as text: work done per time, relative to running one job after the other.
std::string Rates(const turn::Guard& guard) {
  char text[64];
  std::snprintf(text, sizeof text, "by turns %.2f, side by side %.2f", guard.rate(turn::Way::kTurns),
                guard.rate(turn::Way::kSideBySide));
  return text;
}

}  // namespace

Gpu::Gpu(std::shared_ptr<const GpuInfo> info, const turn::Settings& settings, Policy policy,
         Observer* observer)
    : info_(std::move(info)),
      memory_(*info_->page),
      page_guard_(*info_->page),
      turnstile_(settings),
      mode_(ModeFor(policy, {})),
      policy_(policy),
      observer_(observer) {}

std::variant<std::shared_ptr<const Member>, Membership::Refusal> Gpu::Join(std::shared_ptr<Member> member,
                                                                           turn::Time now) {
  auto outcome = membership_.Join(member->gang);
  if (auto* refusal = std::get_if<Membership::Refusal>(&outcome)) return std::move(*refusal);
  const turn::SlotIndex slot = std::get<turn::SlotIndex>(outcome);
  member->slot = slot;
  member->gpu = info_;
  member_[slot] = member;
  steps_[slot].Reset();
  guard_.Reset();
  guard_.Forget(slot);

  info_->page->ResetSlot(slot);
  page_guard_.Reset(slot);
  turnstile_.Join(slot, membership_.Order(slot));
  turnstile_.SetPriority(slot, PriorityOf(member->priority));
  if (member->known.known()) measured_.Add(slot);
  measured_at_[slot] = now;
  if (membership_.members().Count() > 1) shared_ = membership_.members();
  cap_admission_.Join(slot, member->gang, member->max_slowdown, now);
  turnstile_.SetCap(slot, member->max_slowdown);
  turnstile_.SetKnown(slot, member->known);
  Reorder();
  Emit(EventKind::kJoin, slot, now);
  // A new client has learned nothing yet. ApplyMode therefore ungates the others before the new client can
  // start.
  ApplyMode(now);
  page_guard_.Store(info_->page->slot(slot).mode, mode_);
  PublishHints();
  return std::shared_ptr<const Member>(std::move(member));
}

void Gpu::Leave(turn::SlotIndex slot, turn::Time now) {
  if (!membership_.members().Has(slot)) return;
  turnstile_.Leave(slot);
  membership_.Leave(slot);
  offenders_.Remove(slot);
  cap_admission_.Leave(slot);
  measured_.Remove(slot);
  shared_.Remove(slot);
  guard_.Reset();
  Reorder();
  Emit(EventKind::kLeave, slot, now);
  page_guard_.Store(info_->page->slot(slot).mode, CROSSOVER_MODE_OFF);
  member_[slot] = nullptr;
}

turn::Time Gpu::Poll(turn::Time now) {
  Atomic(info_->page->get()->arbiter_beat).fetch_add(1, std::memory_order_relaxed);
  if (empty()) return turn::kNever;
  page_guard_.Look(membership_.members(), now);
  ApplyMode(now);
  const turn::Time wanted =
      NextPoll(now, turnstile_.Poll(memory_, now), turnstile_.policy(), turnstile_.gated());
  PublishHints();
  if (cap_admission_.pending()) JudgePromises(now);
  Report(now);
  WatchSteps(now);
  const turn::Time longest = mode_ == CROSSOVER_MODE_GATE || guard_.trying() || AnyTakesTurns()
                                 ? kLongestPollTakingTurns
                             : membership_.members().Count() > 1 ? kLongestPollShared
                                                                 : kLongestPollAlone;
  return std::clamp(wanted, now + kShortestPoll, now + longest);
}

std::vector<std::shared_ptr<const Member>> Gpu::Members() const {
  std::vector<std::shared_ptr<const Member>> members;
  for (const turn::SlotIndex slot : membership_.members()) members.push_back(member_[slot]);
  return members;
}

bool Gpu::AnyWaits() const {
  for (const turn::SlotIndex slot : membership_.members()) {
    const turn::ClientWords words = turn::ReadClient(memory_, slot);
    if (words.waiting() && !words.open()) return true;
  }
  return false;
}

// Chooses the mode of the GPU by the rule, and writes it to the slots of all clients.
void Gpu::ApplyMode(turn::Time now) {
  std::array<std::uint32_t, turn::kMaxSlots> phases;
  std::size_t count = 0;
  bool turns_last = false;
  for (const turn::SlotIndex slot : membership_.members()) {
    turns_last |= Atomic(info_->page->slot(slot).turns_last).load() != 0;
    const std::uint32_t phase = Atomic(info_->page->slot(slot).phase).load();
    turnstile_.SetTurns(slot, Atomic(info_->page->slot(slot).turns).load());
    turnstile_.SetIterationOffset(slot, Atomic(info_->page->slot(slot).iteration_offset).load());
    const bool ungated = offenders_.Has(slot) || member_[slot]->observed;
    phases[count++] = ungated ? std::uint32_t{CROSSOVER_PHASE_LEARNING} : phase;
  }
  turnstile_.SetTurnsLast(turns_last);
  cap_admission_.SetTurnsLast(turns_last);
  const Policy policy = held_ ? Stricter(policy_, Policy::kObserve) : policy_;
  crossover_mode mode = ModeFor(policy, {phases.data(), count}, !turns_last && !held_ && Measure(now));
  turn::Guard::Plan plan;
  const bool guarded = Guarded();
  AllowSlices(turns_last && guarded);
  if (mode == CROSSOVER_MODE_GATE && guarded) {
    // If turns last, jobs do not own the GPU one after the other: a job would keep its GPU while it waits for
    // a rank on another GPU, which another job owns. Slices of turns take the place of that way
    // (turn/slices.h).
    guard_.set_exclusive(!turns_last);
    guard_.set_slice(turnstile_.slices().on() ? turn::kSliceIterations : 1);
    plan = ChooseWay(now);
  } else {
    guard_.Pause();
  }
  if (plan.way == turn::Way::kSideBySide) mode = CROSSOVER_MODE_OBSERVE;
  turnstile_.SetOwner(plan.owner);
  const bool changed = mode != mode_;
  mode_ = mode;
  for (const turn::SlotIndex slot : membership_.members()) {
    turnstile_.SetGated(slot, mode == CROSSOVER_MODE_GATE);
    // A client that begins to take turns knows its slice from the first turn on.
    page_guard_.Store(info_->page->slot(slot).slice_bits, turnstile_.slices().on() ? turn::kSliceBits : 0);
    page_guard_.Store(info_->page->slot(slot).mode, mode);
    if (changed) Emit(EventKind::kMode, slot, now);
  }
}

// Allows slices of turns or not, and logs it when the turnstile has ended them.
void Gpu::AllowSlices(bool allowed) {
  turnstile_.AllowSlices(allowed);
  const turn::Slices::Reason ended = turnstile_.slices().ended();
  if (ended == std::exchange(slices_ended_, ended) || ended == turn::Slices::Reason::kNone) return;
  const bool stuck = ended == turn::Slices::Reason::kStuck;
  observer_->OnLog(stuck ? LogLevel::kWarn : LogLevel::kInfo,
                   "gpu " + info_->uuid +
                       ": its jobs alternate after each turn from now on, no longer after " +
                       std::to_string(turn::kSliceIterations) +
                       (stuck ? " iterations: turns were stuck again and again"
                              : " iterations: turns are too long for that"));
}

// Returns whether the guard may choose another way than turns. It may not if a client has a cap or if
// priorities differ: side by side, or in another job's slice, the arbiter cannot control a client's slowdown.
bool Gpu::Guarded() const {
  if (!guarded_ || cap_admission_.any() || membership_.members().Count() < 2) return false;
  const std::uint32_t priority = member_[*membership_.members().begin()]->priority;
  for (const turn::SlotIndex slot : membership_.members()) {
    if (member_[slot]->priority != priority) return false;
  }
  return true;
}

// Returns whether the only client of the GPU should take turns alone, so that its needs are measured. A later
// client then meets a job whose needs are known, and the job's profile gets them even if no other client
// comes. A demand measured after the client has shared the GPU is not passed on: its gaps were longer than
// they are alone. The measurement is made repeatedly, because a job changes: its GPU becomes slower, or it
// has another part of the batch.
bool Gpu::Measure(turn::Time now) {
  const turn::SlotIndex slot = *membership_.members().begin();
  if (membership_.members().Count() != 1 || slot >= turn::kMaxSlots) return false;
  if (measured_.Has(slot)) {
    if (now - measured_at_[slot] < kMeasureAgain) return false;
    measured_.Remove(slot);
    shared_.Remove(slot);
    turnstile_.Forget(slot);
  }
  if (!turnstile_.policy().timing(slot).settled()) return true;
  measured_.Add(slot);
  measured_at_[slot] = now;
  if (!shared_.Has(slot)) turnstile_.SetKnown(slot, turnstile_.policy().DemandOf(slot));
  return false;
}

turn::Guard::Plan Gpu::ChooseWay(turn::Time now) {
  std::array<turn::Guard::Job, turn::kMaxSlots> jobs;
  std::size_t count = 0;
  for (const turn::SlotIndex slot : membership_.members()) {
    jobs[count++] = {slot, Atomic(info_->page->slot(slot).iteration).load(),
                     turnstile_.policy().timing(slot).alone()};
  }
  std::sort(
      jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(count),
      [this](const auto& a, const auto& b) { return membership_.Order(a.slot) < membership_.Order(b.slot); });
  const bool tried = guard_.trying();
  const turn::Way settled = guard_.settled();
  const turn::Guard::Plan plan = guard_.Advance({jobs.data(), count}, now);
  for (std::size_t i = 0; i < count; ++i) {
    const turn::SlotIndex slot = jobs[i].slot;
    if (guard_.alone_at(slot) != now) continue;
    Event event = EventOf(EventKind::kMeasure, slot, now, guard_.alone(slot));
    event.steps = guard_.alone_over(slot);
    observer_->OnEvent(event);
  }
  if (guard_.trying() && !tried) ++trials_;
  if (guard_.settled() != settled) {
    observer_->OnLog(LogLevel::kInfo, "gpu " + info_->uuid + ": its jobs run " +
                                          std::string(Name(guard_.settled())) + " now: " + Rates(guard_) +
                                          " (work per time; 1: as one after the other, 0: not known)");
  }
  return plan;
}

void Gpu::JudgePromises(turn::Time now) {
  const auto changes = cap_admission_.Judge([this](turn::SlotIndex slot) -> CapAdmission::Need {
    const turn::TimingModel& timing = turnstile_.policy().timing(slot);
    if (!timing.settled() && !measured_.Has(slot)) return {};
    return {turnstile_.policy().DemandOf(slot), timing.turns()};
  });
  for (const CapAdmission::Change& change : changes) {
    const bool refused = !change.refusal.empty();
    const std::string text = refused ? change.refusal : "max-slowdown is kept from now on";
    observer_->OnLog(refused ? LogLevel::kWarn : LogLevel::kInfo,
                     "gpu " + info_->uuid + ": gang " + member_[change.slot]->gang + ": " + text);
    notices_.push_back({member_[change.slot]->id, text});
    Emit(refused ? EventKind::kRefuseCap : EventKind::kGrantCap, change.slot, now);
  }
  for (const turn::SlotIndex slot : membership_.members()) turnstile_.SetCap(slot, cap_admission_.cap(slot));
}

void Gpu::Reorder() {
  for (const turn::SlotIndex slot : membership_.members()) turnstile_.SetOrder(slot, membership_.Order(slot));
}

// Writes to the page, for each client, its successor and how often it should yield. These are hints: a wrong
// one costs time and does no harm.
void Gpu::PublishHints() {
  for (const turn::SlotIndex slot : membership_.members()) {
    crossover_slot& line = info_->page->slot(slot);
    const turn::TimingModel& timing = turnstile_.policy().timing(slot);
    for (std::uint32_t position = 0; position < turn::kMaxTurns; ++position) {
      page_guard_.Store(
          line.successor[position],
          mode_ == CROSSOVER_MODE_GATE ? turnstile_.successor(slot, turn::FirstStretch(position)) : slot);
      // The stretch is computed at each poll, so only for the turns that the iteration has.
      const bool asked = mode_ == CROSSOVER_MODE_GATE && position < timing.turns();
      const turn::Time stretch = asked ? turnstile_.stretch_wanted(slot, position) : 0;
      page_guard_.Store(
          line.stretch_launches[position],
          LaunchesPerStretch(stretch, timing.longest_turn(), Atomic(line.turn_launches).load()));
    }
    page_guard_.Store(line.generation, membership_.generation());
  }
}

void Gpu::Report(turn::Time now) {
  const auto events = turnstile_.TakeEvents();
  for (const turn::Event& event : events) Emit(event);
  turn::Stats stats = turnstile_.stats();
  stats.way = guard_.settled();
  stats.rate_by_turns = guard_.rate(turn::Way::kTurns);
  stats.rate_side_by_side = guard_.rate(turn::Way::kSideBySide);
  stats.trials = trials_;
  stats.looked = guard_.looked();
  stats.lost = guard_.lost();
  if (!events.empty() || stats.way != told_.way || stats.trials != told_.trials ||
      stats.looked != told_.looked)
    observer_->OnStats(info_, stats);
  told_ = stats;
  if (turnstile_.offenders() == offenders_) return;
  for (const turn::SlotIndex slot : turnstile_.offenders()) {
    if (offenders_.Has(slot) || !membership_.members().Has(slot)) continue;
    Emit(EventKind::kOffend, slot, now);
    observer_->OnLog(LogLevel::kWarn, "gpu " + info_->uuid + ": gang " + membership_.gang(slot) +
                                          " held its turn too long again, or holds it still: no turns are "
                                          "taken on this GPU until watchdog.forgive_s have passed (300 s by "
                                          "default)");
  }
  for (const turn::SlotIndex slot : offenders_) {
    if (turnstile_.offenders().Has(slot) || !membership_.members().Has(slot)) continue;
    Emit(EventKind::kPardon, slot, now);
    observer_->OnLog(LogLevel::kInfo,
                     "gpu " + info_->uuid + ": gang " + membership_.gang(slot) + " may take turns again");
  }
  offenders_ = turnstile_.offenders();
  ApplyMode(now);
}

void Gpu::WatchSteps(turn::Time now) {
  for (const turn::SlotIndex slot : membership_.members()) {
    if (mode_ == CROSSOVER_MODE_OFF) {  // clients do not count iterations then
      steps_[slot].Reset();
      continue;
    }
    const auto steps = steps_[slot].Watch(Atomic(info_->page->slot(slot).periods).load(), now);
    if (!steps) continue;
    Event event{.kind = EventKind::kStep,
                .at = now,
                .gpu = info_,
                .member = member_[slot],
                .duration = steps->each,
                .mode = mode_,
                .steps = steps->count};
    if (mode_ == CROSSOVER_MODE_GATE) {
      event.demand = turnstile_.policy().DemandOf(slot);
      // A demand that comes from the job's profile was not learned now. It is left out, so that the profile
      // keeps its age.
      if (event.demand == member_[slot]->known) event.demand = {};
      event.jitter = turnstile_.policy().timing(slot).jitter();
    }
    observer_->OnEvent(event);
  }
}

Event Gpu::EventOf(EventKind kind, turn::SlotIndex slot, turn::Time at, turn::Time duration) const {
  Event event{.kind = kind, .at = at, .gpu = info_, .member = nullptr, .duration = duration, .mode = mode_};
  if (slot < turn::kMaxSlots) event.member = member_[slot];
  return event;
}

void Gpu::Emit(EventKind kind, turn::SlotIndex slot, turn::Time at, turn::Time duration) {
  observer_->OnEvent(EventOf(kind, slot, at, duration));
}

void Gpu::Emit(const turn::Event& turn) {
  Event event = EventOf(KindOf(turn.kind), turn.slot, turn.at, turn.duration);
  event.whole = turn.whole;
  event.iteration = turn.iteration;
  event.position = turn.position;
  event.turns = turn.turns;
  observer_->OnEvent(event);
}

bool Gpu::Takes(turn::SlotIndex slot) const {
  return Atomic(info_->page->slot(slot).phase).load() == CROSSOVER_PHASE_TAKING;
}

base::WatchReason Gpu::ReasonOf(turn::SlotIndex slot) const {
  return base::WatchReason{Atomic(info_->page->slot(slot).watch_reason).load()};
}

bool Gpu::AnyTakesTurns() const {
  for (const turn::SlotIndex slot : membership_.members()) {
    if (Takes(slot)) return true;
  }
  return false;
}

}  // namespace crossover::arbiter
