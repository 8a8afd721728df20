// A capacity shared by tenants in continuous time: the SMs of one GPU, or the bytes per second of one link.
//
// A tenant asks for *pieces* of work, one after the other. A piece has a demand (how much of the capacity it
// wants), a speed (work per ns when it gets all it wants) and an amount of work; it progresses at
// speed * allocation / demand. A kernel of duration d is work d at speed 1; bytes on a link are work b at
// speed demand / 1e9. The demand of a tenant ends by itself, exactly when `served` reaches the end of its
// last piece.
//
// A *spinning* tenant holds its demand without finishing until it is told to stop; `served` then counts the
// ns during which it really held it.
//
// Two ways to share:
//   kShared     max-min fair over all tenants. Spinning tenants are served first; pieces are malleable: one
//   that
//               wants 132 SMs beside 4 held ones runs at 128/132 of its speed.
//   kTimeslice  only one group (process) runs at a time, round robin by group number, each for one quantum or
//               until it has nothing to run. A spinning tenant burns its group's whole slice.
//
// By option (ShareRules): pieces of two or more groups that run at the same time gain or lose by it, a
// spinning tenant waits until what it wants is free, and it advances more slowly beside pieces. A group may
// be limited to a part of the capacity.
//
// Pure: no clock, no I/O, no allocation. All memory zero followed by Reset() is a valid object, and it is
// trivially copyable, so it can live in shared memory. Not thread-safe. Times are ns, and events fall on
// whole ns, rounded up. No function may be called with a time before now().
#pragma once

#include <cstdint>

#include "simgpu/model/constants.h"

namespace simgpu {

using Nanos = std::int64_t;
constexpr Nanos kNever = INT64_MAX;

enum class ShareMode : std::uint32_t { kShared, kTimeslice };

// How a capacity is shared.
struct ShareRules {
  ShareMode mode = ShareMode::kShared;
  double capacity = 0;
  Nanos quantum = 1;  // of kTimeslice
  // While pieces of two or more groups run at the same time, each speed is multiplied by this, up to the
  // speed that the piece has alone. kTimeslice never runs two groups at once.
  double co_run = constants::kCoRun;
  // A spinning tenant begins to hold when the pieces that began before it asked leave it enough. Pieces then
  // keep their ends apart, so that each end of a kernel is an occasion.
  bool holders_wait = false;
  // kShared: beside pieces that use all that is not held, a spinning tenant advances by 1 / (1 + this) of the
  // time; in proportion where they use less.
  double holder_slowdown = constants::kCollectiveSlowdown;
};

class Fluid {
 public:
  static constexpr int kTenants = constants::kTenants;
  static constexpr int kPieces = constants::kPieces;
  static constexpr int kHistory = constants::kHistory;
  static constexpr double kUnlimited = 1e300;

  void Reset(const ShareRules& rules, Nanos now);

  // Moves everything to `now`. Every change below takes effect at now(), so advance first.
  void Advance(Nanos now);

  // A new, idle tenant of `group`; -1 when the table is full. All tenants of the group together get at most
  // `limit` of the capacity at once; it is the same for each of them.
  int Add(std::uint32_t group, double limit = kUnlimited);
  void Remove(int tenant);

  // True when Extend would be refused: too many pieces of different demand are waiting.
  bool Full(int tenant) const;
  // Appends work; returns the value of Served() at which it is done. A tenant that is not idle goes on
  // without a gap. Precondition: !Full(tenant), demand > 0, speed > 0, work >= 0.
  double Extend(int tenant, double demand, double speed, double work);

  // Holds `demand` until called with 0. Precondition: the tenant has no work left.
  void SetSpinning(int tenant, double demand);

  double Served(int tenant) const { return state_.served[tenant]; }
  // Where Served() will stand when all work given so far is done.
  double Target(int tenant) const;
  bool Used(int tenant) const { return asks_[tenant].used; }
  std::uint32_t Group(int tenant) const { return asks_[tenant].group; }
  // True while the tenant has a share: it makes progress, or holds what it spins on.
  bool Active(int tenant) const { return state_.rate[tenant] > 0; }
  // How much of the capacity it has now.
  double ShareOf(int tenant) const { return state_.share[tenant]; }
  // Capacity times ns that a tenant without work could have had since its last work was done: what no other
  // used, while its group could run.
  double Spare(int tenant) const { return spare_[tenant]; }
  // True while pieces of two or more groups run at the same time.
  bool CoRuns() const { return state_.co_runs; }
  int Tenants() const;

  // When Served(tenant) will reach `target` if nobody asks for more. Never later than the truth unless a
  // spinning tenant stops or a tenant is removed; may be early (look again then). kNever: no end in sight.
  Nanos FinishTime(int tenant, double target) const;

  // When the tenant will next be active, by the same rule.
  Nanos ActiveTime(int tenant) const;

  // Served() at the end of the piece in progress; Target() when idle.
  double NextMark(int tenant) const;

  // When Served(tenant) reached `target`. Precondition: it has. Kept for the last kHistory changes of rate;
  // for what lies further back, the oldest time known.
  Nanos CrossedAt(int tenant, double target) const;

  Nanos now() const { return state_.now; }
  double capacity() const { return rules_.capacity; }
  // ns during which at least one tenant was active.
  Nanos busy() const { return busy_; }

 private:
  struct Piece {
    double end;  // value of served at which it is done
    double demand;
    double speed;
  };
  // What a tenant wants. Pieces are numbered from the beginning of time; piece i lies at i % kPieces.
  struct Ask {
    bool used;
    std::uint32_t group;
    double limit;              // of the group
    double spinning;           // demand held, or waited for; 0 for none
    Nanos asked;               // when it began to spin
    std::uint32_t pieces_end;  // one past the last piece
    Piece pieces[kPieces];
  };
  // How far the tenants have come. Separate from Ask so that a forecast can run on a copy of this alone.
  struct State {
    Nanos now;
    Nanos slice_end;
    std::uint32_t running_group;
    bool co_runs;
    double unused;  // of the capacity
    double served[kTenants];
    double rate[kTenants];
    double share[kTenants];
    std::uint32_t piece[kTenants];  // the piece in progress; pieces_end: idle
    Nanos began[kTenants];          // when that piece became the one in progress
    bool holding[kTenants];         // it spins, and has what it spins on
  };
  // What a tenant may get when the capacity is shared out.
  struct Claim {
    int tenant;
    double demand;
    double share;
  };
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
    return Wants(s, t) && (rules_.mode == ShareMode::kShared || asks_[t].group == s.running_group);
  }
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
  State state_;
  double spare_[kTenants];
  Ask asks_[kTenants];
  History history_[kTenants];
};

}  // namespace simgpu
