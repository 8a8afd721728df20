// Decides how much of a capacity each tenant gets at one instant. Spinning tenants are served first; the
// rest is shared max-min fair (water filling) within the limits of groups.
#include <algorithm>

#include "simgpu/model/fluid.h"

namespace simgpu {
namespace {

// Shares `left` among `count` claims. No claim gets more than it wants; what one does not need goes to the
// others. Sorts the claims by demand.
template <typename Claim>
void Fill(Claim* claims, int count, double left) {
  std::sort(claims, claims + count, [](const Claim& a, const Claim& b) { return a.demand < b.demand; });
  for (int i = 0; i < count; ++i) {
    claims[i].share = std::min(claims[i].demand, left / (count - i));
    left -= claims[i].share;
  }
}

}  // namespace

// Sets the share and the rate of every tenant.
void Fluid::Share(State& s) const {
  Claim claims[kTenants];
  int count = 0;
  for (int t = 0; t < high_water_; ++t) {
    s.rate[t] = 0;
    s.share[t] = 0;
    if (!MayRun(s, t)) continue;
    if (asks_[t].spinning > 0) {
      s.holding[t] = s.holding[t] || !rules_.holders_wait;
    } else {
      claims[count++] = {t, 0, 0};
    }
  }
  double used = ShareOut(s, claims, count);
  while (rules_.holders_wait && LetAHolderBegin(s, claims, count)) used = ShareOut(s, claims, count);
  SetRates(s, claims, count, used);
}

// Returns how much the running tenants of `group` hold, or those of all groups if `of_all`.
double Fluid::Held(const State& s, std::uint32_t group, bool of_all) const {
  double held = 0;
  for (int t = 0; t < high_water_; ++t) {
    if (MayRun(s, t) && s.holding[t] && (of_all || asks_[t].group == group)) held += asks_[t].spinning;
  }
  return held;
}

// Shares out what is not held. Returns the sum of the shares.
double Fluid::ShareOut(State& s, Claim* claims, int count) const {
  for (int i = 0; i < count; ++i) claims[i].demand = CurrentPiece(s, claims[i].tenant).demand;
  for (int i = 0; i < count; ++i) {
    const Ask& ask = asks_[claims[i].tenant];
    if (ask.limit < rules_.capacity) LimitGroup(s, claims, count, ask.group);
  }
  Fill(claims, count, std::max(0.0, rules_.capacity - Held(s, 0, true)));
  double used = 0;
  for (int i = 0; i < count; ++i) used += claims[i].share;
  return used;
}

// Treats the limit of a group as a capacity of its own: no tenant of the group asks for more than its share
// of that. What is shared out afterwards is then max-min fair among all tenants within the limits. A second
// call for the same group changes nothing.
void Fluid::LimitGroup(const State& s, Claim* claims, int count, std::uint32_t group) const {
  Claim members[kTenants];
  int size = 0;
  double limit = 0;
  for (int i = 0; i < count; ++i) {
    const Ask& ask = asks_[claims[i].tenant];
    if (ask.group != group) continue;
    members[size++] = {i, claims[i].demand, 0};
    limit = ask.limit;
  }
  Fill(members, size, std::max(0.0, limit - Held(s, group, false)));
  for (int i = 0; i < size; ++i) claims[members[i].tenant].demand = members[i].share;
}

// Picks, among the spinning tenants that wait and whose demand is free, the one that asked first, and lets
// it hold. Returns false if there is none.
bool Fluid::LetAHolderBegin(State& s, const Claim* claims, int count) const {
  const double free = rules_.capacity - Held(s, 0, true);
  int first = -1;
  for (int t = 0; t < high_water_; ++t) {
    if (!MayRun(s, t) || asks_[t].spinning <= 0 || s.holding[t]) continue;
    if (first >= 0 && asks_[first].asked <= asks_[t].asked) continue;
    if (free - SharesOfOlder(s, claims, count, asks_[t].asked) >= asks_[t].spinning) first = t;
  }
  if (first < 0) return false;
  s.holding[first] = true;
  return true;
}

// Returns the sum of the shares of pieces that began before `asked`. A later piece ranks behind the tenant
// that waits.
double Fluid::SharesOfOlder(const State& s, const Claim* claims, int count, Nanos asked) const {
  double sum = 0;
  for (int i = 0; i < count; ++i) {
    if (s.began[claims[i].tenant] < asked) sum += claims[i].share;
  }
  return sum;
}

// Returns by how much the blocked tenants at which the GPU looks make a kernel longer.
double Fluid::PriceOfBlocked(const State& s) const {
  double price = 0;
  for (int t = 0; t < high_water_; ++t) {
    if (!asks_[t].used || (rules_.mode != ShareMode::kShared && !HasSlice(s, t))) continue;
    if (asks_[t].blocked == WordPlace::kHost) price += rules_.blocked_price;
    if (asks_[t].blocked == WordPlace::kDevice) price += rules_.blocked_device_price;
  }
  return price;
}

void Fluid::SetRates(State& s, const Claim* claims, int count, double used) const {
  s.co_runs = false;
  for (int i = 0; i < count; ++i) {
    const Claim& other = claims[i];
    s.co_runs |=
        other.share > 0 && claims[0].share > 0 && asks_[other.tenant].group != asks_[claims[0].tenant].group;
  }
  const double factor = s.co_runs ? rules_.co_run : 1;
  const double price = rules_.PricesBlocked() ? PriceOfBlocked(s) : 0;
  for (int i = 0; i < count; ++i) {
    const Piece& piece = CurrentPiece(s, claims[i].tenant);
    const double share = claims[i].share;
    const double rate = share == piece.demand ? piece.speed : piece.speed * share / piece.demand;
    s.share[claims[i].tenant] = share;
    s.rate[claims[i].tenant] = factor == 1 ? rate : std::min(piece.speed, rate * factor);
    double& of_tenant = s.rate[claims[i].tenant];
    if (price > 0) of_tenant *= piece.kernel / (piece.kernel + price * of_tenant);
  }
  const double held = Held(s, 0, true);
  const double open = rules_.capacity - held;
  const bool switches = rules_.mode == ShareMode::kTimeslice && s.now < s.slice_begin;
  s.unused = switches ? 0 : std::max(0.0, open - used);
  const double slowdown =
      rules_.mode == ShareMode::kShared && open > 0 ? rules_.holder_slowdown * used / open : 0;
  for (int t = 0; t < high_water_; ++t) {
    if (!MayRun(s, t) || !s.holding[t] || asks_[t].spinning <= 0) continue;
    s.share[t] = asks_[t].spinning;
    s.rate[t] = 1 / (1 + slowdown);
  }
}

}  // namespace simgpu
