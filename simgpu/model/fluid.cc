#include "simgpu/model/fluid.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace simgpu {

static_assert(std::is_trivially_copyable_v<Fluid>, "lives in shared memory");

void Fluid::Reset(const ShareRules& rules, Nanos now) {
  rules_ = rules;
  rules_.quantum = std::max<Nanos>(rules.quantum, 1);
  busy_ = 0;
  worked_ = 0;
  for (int t = 0; t < high_water_; ++t) asks_[t].used = false;
  high_water_ = 0;
  state_.now = now;
  state_.slice_end = now;
  state_.slice_begin = now;
  state_.running_group = 0;
  state_.co_runs = false;
  state_.unused = rules.capacity;
}

int Fluid::Add(std::uint32_t group, double limit) {
  for (int t = 0; t < kTenants; ++t) {
    if (asks_[t].used) continue;
    Ask& ask = asks_[t];
    ask.group = group;
    ask.blocked = WordPlace::kNone;
    ask.limit = limit;
    ask.spinning = 0;
    ask.asked = 0;
    ask.pieces_end = 0;
    state_.served[t] = 0;
    state_.rate[t] = 0;
    state_.share[t] = 0;
    state_.piece[t] = 0;
    state_.began[t] = 0;
    state_.holding[t] = false;
    spare_[t] = 0;
    history_[t].count = 0;
    ask.used = true;
    high_water_ = std::max(high_water_, t + 1);
    Remember(t);
    return t;
  }
  return -1;
}

void Fluid::Remove(int tenant) {
  asks_[tenant].used = false;
  asks_[tenant].blocked = WordPlace::kNone;
  state_.rate[tenant] = 0;
  state_.share[tenant] = 0;
  state_.holding[tenant] = false;
  Settle();
}

bool Fluid::Full(int tenant) const {
  return asks_[tenant].pieces_end - state_.piece[tenant] >= static_cast<std::uint32_t>(kPieces);
}

double Fluid::Extend(int tenant, double demand, double speed, double work) {
  Ask& ask = asks_[tenant];
  demand = std::min(demand, rules_.capacity);
  const double kernel = rules_.PricesBlocked() ? work : 0;
  const bool idle = !HasWork(state_, tenant);
  if (!idle) {
    Piece& last = ask.pieces[(ask.pieces_end - 1) % kPieces];
    if (last.demand == demand && last.speed == speed && last.kernel == kernel && !rules_.holders_wait) {
      last.end += work;
      return last.end;
    }
  }
  const double end = Target(tenant) + work;
  if (work <= 0) return end;
  ask.pieces[ask.pieces_end % kPieces] = {end, demand, speed, kernel};
  ++ask.pieces_end;
  if (!idle) return end;
  state_.began[tenant] = state_.now;
  spare_[tenant] = 0;
  Settle();
  return end;
}

void Fluid::SetSpinning(int tenant, double demand) {
  Ask& ask = asks_[tenant];
  ask.spinning = std::min({demand, rules_.capacity, ask.limit});
  ask.asked = state_.now;
  spare_[tenant] = 0;
  state_.holding[tenant] = false;
  Settle();
}

void Fluid::SetBlocked(int tenant, WordPlace at) {
  if (asks_[tenant].blocked == at) return;
  asks_[tenant].blocked = at;
  if (rules_.PricesBlocked()) Settle();
}

double Fluid::Target(int tenant) const {
  if (!HasWork(state_, tenant)) return state_.served[tenant];
  return asks_[tenant].pieces[(asks_[tenant].pieces_end - 1) % kPieces].end;
}

int Fluid::Tenants() const {
  return static_cast<int>(std::count_if(asks_, asks_ + high_water_, [](const Ask& ask) { return ask.used; }));
}

void Fluid::Advance(Nanos now) {
  while (state_.now < now) {
    const Nanos begin = state_.now;
    bool busy = false, works = false;
    for (int t = 0; t < high_water_; ++t) {
      if (state_.rate[t] <= 0) continue;
      busy = true;
      works = works || asks_[t].spinning <= 0;
    }
    const Nanos until = std::min(now, NextEvent(state_));
    CountSpare(until);
    MoveTo(state_, until);
    if (busy) busy_ += state_.now - begin;
    if (works) worked_ += state_.now - begin;
    Settle();
  }
}

// Adds to spare_ what tenants without work could have had until `until`, at the present rates.
void Fluid::CountSpare(Nanos until) {
  if (state_.unused <= 0) return;
  const bool slices =
      rules_.mode == ShareMode::kTimeslice &&
      std::any_of(state_.rate, state_.rate + high_water_, [](double rate) { return rate > 0; });
  const auto passes = static_cast<double>(until - state_.now);
  for (int t = 0; t < high_water_; ++t) {
    if (!asks_[t].used || Wants(state_, t)) continue;
    if (slices && asks_[t].group != state_.running_group) continue;  // the slice belongs to another group
    spare_[t] += passes * std::min(state_.unused, asks_[t].limit);
  }
}

Nanos Fluid::FinishTime(int tenant, double target) const {
  State s = state_;
  // A forecast gives up after this many events. Its answer is then too early, which is harmless.
  for (int i = 0; i < constants::kForecastEvents; ++i) {
    const double missing = target - s.served[tenant];
    if (missing <= 0) return s.now;
    const Nanos event = NextEvent(s);
    if (s.rate[tenant] > 0) {
      const double wait = std::ceil(missing / s.rate[tenant]);
      if (event == kNever || wait <= static_cast<double>(event - s.now))
        return s.now + static_cast<Nanos>(wait);
    }
    if (event == kNever) return kNever;
    MoveTo(s, event);
    TakeTurns(s);
    Share(s);
  }
  return s.now;
}

Nanos Fluid::ActiveTime(int tenant) const {
  State s = state_;
  for (int i = 0; i < constants::kForecastEvents && s.rate[tenant] <= 0; ++i) {
    const Nanos event = NextEvent(s);
    if (event == kNever) return kNever;
    MoveTo(s, event);
    TakeTurns(s);
    Share(s);
  }
  return s.now;
}

double Fluid::NextMark(int tenant) const {
  return HasWork(state_, tenant) ? CurrentPiece(state_, tenant).end : Target(tenant);
}

Nanos Fluid::CrossedAt(int tenant, double target) const {
  const History& history = history_[tenant];
  const std::uint32_t kept = std::min<std::uint32_t>(history.count, kHistory);
  for (std::uint32_t back = 1; back <= kept; ++back) {
    const Segment& segment = history.segments[(history.count - back) % kHistory];
    if (segment.served < target && segment.rate > 0) {
      const auto wait = static_cast<Nanos>(std::ceil((target - segment.served) / segment.rate));
      return std::min(segment.begin + wait, state_.now);
    }
    if (back == kept) return segment.begin;
  }
  return state_.now;
}

// Sets *next to the group that follows `after` in cyclic order among those that want to run. Returns false
// if no group wants to run.
bool Fluid::NextGroup(const State& s, std::uint32_t after, std::uint32_t* next) const {
  bool found = false;
  std::uint32_t nearest = 0;
  for (int t = 0; t < high_water_; ++t) {
    if (!Wants(s, t)) continue;
    const std::uint32_t distance = asks_[t].group - after - 1;
    if (!found || distance < nearest) nearest = distance;
    found = true;
  }
  *next = after + 1 + nearest;
  return found;
}

// Returns true if a group other than the running one wants to run.
bool Fluid::Competes(const State& s) const {
  for (int t = 0; t < high_water_; ++t) {
    if (Wants(s, t) && asks_[t].group != s.running_group) return true;
  }
  return false;
}

// Decides which group runs at s.now and until when.
void Fluid::TakeTurns(State& s) const {
  if (rules_.mode != ShareMode::kTimeslice) return;
  bool running_wants = false;
  for (int t = 0; t < high_water_ && !running_wants; ++t) {
    running_wants = Wants(s, t) && asks_[t].group == s.running_group;
  }
  if (running_wants && s.now < s.slice_end) return;
  std::uint32_t next = 0;
  if (!NextGroup(s, s.running_group, &next)) {
    s.slice_end = s.now;
  } else if (next == s.running_group && s.slice_end > 0 && running_wants) {
    // The group is alone. Its slices follow each other without a gap, and a newcomer waits for the end of
    // the current one.
    s.slice_end = s.now + rules_.quantum - (s.now - s.slice_end) % rules_.quantum;
  } else {
    // The first group of all finds the GPU without another one's state, and so does the group that ran last.
    const bool another = next != s.running_group && s.running_group != 0;
    s.running_group = next;
    s.slice_begin = s.now + (another ? rules_.switch_cost : 0);
    s.slice_end = s.slice_begin + rules_.quantum;
  }
}

// Returns the next instant at which rates change by themselves: a piece ends, or a slice ends while another
// group waits for it.
Nanos Fluid::NextEvent(const State& s) const {
  Nanos next = kNever;
  for (int t = 0; t < high_water_; ++t) {
    if (!asks_[t].used || s.rate[t] <= 0 || asks_[t].spinning > 0 || !HasWork(s, t)) continue;
    const double wait = std::max(1.0, std::ceil((CurrentPiece(s, t).end - s.served[t]) / s.rate[t]));
    if (wait < 1e18) next = std::min(next, s.now + static_cast<Nanos>(wait));
  }
  if (rules_.mode != ShareMode::kTimeslice) return next;
  if (s.now < s.slice_begin) return s.slice_begin;
  if (Competes(s)) next = std::min(next, std::max(s.slice_end, s.now + 1));
  return next;
}

// Serves every tenant at its rate until `time`. REQUIRES: `time` is not after NextEvent().
void Fluid::MoveTo(State& s, Nanos time) const {
  const auto passed = static_cast<double>(time - s.now);
  for (int t = 0; t < high_water_; ++t) {
    if (!asks_[t].used || s.rate[t] <= 0) continue;
    s.served[t] += s.rate[t] * passed;
    if (asks_[t].spinning > 0 || !HasWork(s, t)) continue;
    const double end = CurrentPiece(s, t).end;
    if (s.served[t] < end) continue;
    s.served[t] = end;
    ++s.piece[t];
    s.began[t] = time;
  }
  s.now = time;
}

void Fluid::Settle() {
  TakeTurns(state_);
  Share(state_);
  for (int t = 0; t < high_water_; ++t) {
    if (asks_[t].used) Remember(t);
  }
}

// Notes the present rate in the history. Neighbouring segments of equal rate are one.
void Fluid::Remember(int tenant) {
  History& history = history_[tenant];
  const double rate = state_.rate[tenant];
  if (history.count > 0) {
    Segment& last = history.segments[(history.count - 1) % kHistory];
    if (last.rate == rate) return;
    if (last.begin == state_.now) {
      last = {state_.now, state_.served[tenant], rate};
      return;
    }
  }
  history.segments[history.count % kHistory] = {state_.now, state_.served[tenant], rate};
  ++history.count;
}

}  // namespace simgpu
