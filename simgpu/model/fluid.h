// Shares one capacity among tenants in continuous time. The capacity is the SMs of one GPU, or the bytes
// per second of one link.
//
// A tenant asks for *pieces* of work, one after the other. A piece has a demand (how much of the capacity
// it wants), a speed (work per ns when it gets all it wants) and an amount of work.
// It progresses at speed * allocation / demand. A kernel of duration d is work d at speed 1; b bytes on a
// link are work b at speed demand / 1e9. The demand of a tenant ends by itself, exactly when `served` reaches
// the end of its last piece.
//
// A *spinning* tenant holds its demand and does not finish until it is told to stop. Its `served` counts
// the ns during which it really held the demand.
//
// There are two ways to share:
//   kShared     The capacity is shared max-min fair among all tenants. Spinning tenants are served first.
//               Pieces are malleable: a piece that wants 132 SMs beside 4 held ones runs at 128/132 of
//               its speed.
//   kTimeslice  One group (process) runs at a time. Groups follow each other by group number, round robin,
//               each for one quantum or until it has nothing to run. A spinning tenant uses up the whole
//               slice of its group.
//
// ShareRules has options. Pieces of two or more groups that run at the same time can gain or lose speed by
// it. A spinning tenant can wait until what it wants is free, and it can advance more slowly beside pieces.
// A group can be limited to a part of the capacity. A change of the group that runs can take time. Tenants
// that are *blocked* (they wait for a word and have nothing to run) can slow short pieces down.
//
// The code is pure: no clock, no I/O, no allocation. Zeroed memory followed by Reset() is a valid object,
// and the class is trivially copyable, so an object can live in shared memory. Not thread-safe. Times are
// in ns; events fall on whole ns, rounded up. REQUIRES: no function is called with a time before now().
#pragma once

#include <cstdint>

#include "simgpu/model/constants.h"

namespace simgpu {

using Nanos = std::int64_t;
constexpr Nanos kNever = INT64_MAX;

enum class ShareMode : std::uint32_t { kShared, kTimeslice };

// A WordPlace is the memory of the word at which a tenant stands, or kNone if the tenant stands at none.
enum class WordPlace : std::uint8_t { kNone, kHost, kDevice };

// ShareRules says how a capacity is shared.
struct ShareRules {
  ShareMode mode = ShareMode::kShared;
  double capacity = 0;
  Nanos quantum = 1;  // the length of a slice; used by kTimeslice only
  // The speed of each piece is multiplied by this while pieces of two or more groups run at the same time.
  // The result is at most the speed that the piece has alone. kTimeslice never runs two groups at once.
  double co_run = constants::kCoRun;
  // If true, a spinning tenant begins to hold once the pieces that began before it asked leave it enough.
  // Pieces then keep their ends apart, because the tenant may begin at each end of a kernel.
  bool holders_wait = false;
  // Slows spinning tenants down under kShared. Beside pieces that use all that is not held, a spinning tenant
  // advances by 1 / (1 + this) of the time. The loss is in proportion if the pieces use less.
  double holder_slowdown = constants::kCollectiveSlowdown;
  // Under kTimeslice no group runs for so long between the slices of two groups.
  Nanos switch_cost = 0;
  // A kernel takes so much longer for each other tenant that is blocked meanwhile, at a word in memory of the
  // host or of the device. Under kTimeslice only tenants of the group that runs count.
  double blocked_price = 0;
  double blocked_device_price = 0;
  bool PricesBlocked() const { return blocked_price > 0 || blocked_device_price > 0; }
};

// A Fluid keeps what the tenants of one capacity ask for and how far each has come.

class Fluid {
 public:
  static constexpr int kTenants = constants::kTenants;
  static constexpr int kPieces = constants::kPieces;
  static constexpr int kHistory = constants::kHistory;
  static constexpr double kUnlimited = 1e300;

  void Reset(const ShareRules& rules, Nanos now);

  // Moves everything to `now`. The functions below that change something take effect at now(), so call this
  // first.
  void Advance(Nanos now);

  // Adds an idle tenant of `group` and returns its number, or -1 if the table is full. All tenants of the
  // group together get at most `limit` of the capacity at once. REQUIRES: every tenant of a group is added
  // with the same limit.
  int Add(std::uint32_t group, double limit = kUnlimited);
  void Remove(int tenant);

  // Returns true if Extend() has no room: too many pieces of different demand are waiting.
  bool Full(int tenant) const;
  // Appends work and returns the value of Served() at which it is done. A tenant that is not idle goes on
  // without a gap. REQUIRES: !Full(tenant), demand > 0, speed > 0, work >= 0.
  // The work is one kernel as far as the prices of blocked tenants are concerned.
  double Extend(int tenant, double demand, double speed, double work);

  // Says at which kind of word the tenant is blocked. It begins unblocked.
  void SetBlocked(int tenant, WordPlace at);

  // Makes the tenant hold `demand` until the next call; 0 makes it let go. REQUIRES: the tenant has no work
  // left.
  void SetSpinning(int tenant, double demand);

  double Served(int tenant) const { return state_.served[tenant]; }
  // Returns the value that Served() has when all work given so far is done.
  double Target(int tenant) const;
  bool Used(int tenant) const { return asks_[tenant].used; }
  std::uint32_t Group(int tenant) const { return asks_[tenant].group; }
  // Returns true if the tenant has work left or spins.
  bool Busy(int tenant) const { return Wants(state_, tenant); }
  // Returns true while the tenant has a share: it makes progress, or it holds what it spins on.
  bool Active(int tenant) const { return state_.rate[tenant] > 0; }
  // Returns how much of the capacity the tenant has now.
  double ShareOf(int tenant) const { return state_.share[tenant]; }
  // Returns the capacity times ns that a tenant without work could have had since its last work was done:
  // what no other tenant used while its group could run.
  double Spare(int tenant) const { return spare_[tenant]; }
  // Returns true while pieces of two or more groups run at the same time.
  bool CoRuns() const { return state_.co_runs; }
  int Tenants() const;

  // Returns when Served(tenant) reaches `target` if no tenant asks for more, or kNever if no end is in sight.
  // The time may be too early: look again then. It is too late only if a spinning tenant stops, a tenant is
  // removed, a tenant is no longer blocked or, with a co_run above 1, a second group begins to run.
  Nanos FinishTime(int tenant, double target) const;

  // Returns when the tenant is active next, with the same restrictions as FinishTime().
  Nanos ActiveTime(int tenant) const;

  // Returns the value of Served() at the end of the piece in progress, or Target() for an idle tenant.
  double NextMark(int tenant) const;

  // Returns when Served(tenant) reached `target`. REQUIRES: it has reached it. The answer is exact within
  // the last kHistory changes of rate. Before them it is the oldest time that is kept.
  Nanos CrossedAt(int tenant, double target) const;

  Nanos now() const { return state_.now; }
  double capacity() const { return rules_.capacity; }
  // Returns the ns during which at least one tenant was active.
  Nanos busy() const { return busy_; }
  // Returns the ns during which at least one piece progressed. Tenants that spin do not count.
  Nanos worked() const { return worked_; }

 private:
  struct Piece {
    double end;  // value of `served` at which the piece is done
    double demand;
    double speed;
    double kernel;  // work of each kernel of the piece, if blocked tenants have a price; else 0
  };
  // An Ask keeps what a tenant wants. Pieces are numbered from 0; piece i lies at i % kPieces.
  struct Ask {
    bool used;
    WordPlace blocked;
    std::uint32_t group;
    double limit;              // limit of the tenant's group
    double spinning;           // demand held, or waited for; 0 for none
    Nanos asked;               // when it began to spin
    std::uint32_t pieces_end;  // one past the last piece
    Piece pieces[kPieces];
  };
  // A State keeps how far the tenants have come. It is separate from Ask, so that a forecast can run on a
  // copy of State alone.
  struct State {
    Nanos now;
    Nanos slice_end;
    Nanos slice_begin;  // the running group runs from here on
    std::uint32_t running_group;
    bool co_runs;
    double unused;  // part of the capacity that no tenant uses
    double served[kTenants];
    double rate[kTenants];
    double share[kTenants];
    std::uint32_t piece[kTenants];  // number of the piece in progress; pieces_end if idle
    Nanos began[kTenants];          // when that piece became the one in progress
    bool holding[kTenants];         // true if the tenant spins and has what it spins on
  };
  // A Claim is what one tenant asks for, and then gets, when the capacity is shared out.
  struct Claim {
    int tenant;
    double demand;
    double share;
  };
  // A Segment is a time during which the rate of a tenant stays the same.
  struct Segment {
    Nanos begin;
    double served;
    double rate;
  };
  struct History {
    std::uint32_t count;
    Segment segments[kHistory];
  };

  const Piece& CurrentPiece(const State& s, int t) const { return asks_[t].pieces[s.piece[t] % kPieces]; }
  bool HasWork(const State& s, int t) const { return s.piece[t] != asks_[t].pieces_end; }
  bool Wants(const State& s, int t) const {
    return asks_[t].used && (asks_[t].spinning > 0 || HasWork(s, t));
  }
  bool NextGroup(const State& s, std::uint32_t after, std::uint32_t* next) const;
  bool Competes(const State& s) const;
  void TakeTurns(State& s) const;
  bool MayRun(const State& s, int t) const {
    return Wants(s, t) && (rules_.mode == ShareMode::kShared || HasSlice(s, t));
  }
  bool HasSlice(const State& s, int t) const {
    return asks_[t].group == s.running_group && s.now >= s.slice_begin;
  }
  double PriceOfBlocked(const State& s) const;
  void Share(State& s) const;
  double Held(const State& s, std::uint32_t group, bool of_all) const;
  double ShareOut(State& s, Claim* claims, int count) const;
  void LimitGroup(const State& s, Claim* claims, int count, std::uint32_t group) const;
  bool LetAHolderBegin(State& s, const Claim* claims, int count) const;
  double SharesOfOlder(const State& s, const Claim* claims, int count, Nanos asked) const;
  void SetRates(State& s, const Claim* claims, int count, double used) const;
  void CountSpare(Nanos until);
  Nanos NextEvent(const State& s) const;
  void MoveTo(State& s, Nanos time) const;
  void Settle();
  void Remember(int tenant);

  ShareRules rules_;
  std::int32_t high_water_;  // tenants at and above this index have never been used
  Nanos busy_;
  Nanos worked_;
  State state_;
  double spare_[kTenants];
  Ask asks_[kTenants];
  History history_[kTenants];
};

}  // namespace simgpu
