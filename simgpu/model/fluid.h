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
// Pieces of two or more groups that run at the same time may gain or lose by it: ShareRules::co_run.
//
// Pure: no clock, no I/O, no allocation. All memory zero followed by Reset() is a valid object, and it is
// trivially copyable, so it can live in shared memory. Not thread-safe. Times are ns, and events fall on
// whole ns, rounded up. No function may be called with a time before now().
#pragma once

#include <cstdint>

namespace simgpu {

using Nanos = std::int64_t;
constexpr Nanos kNever = INT64_MAX;

enum class ShareMode : std::uint32_t { kShared, kTimeslice };

// How a capacity is shared.
struct ShareRules {
  ShareMode mode = ShareMode::kShared;
  double capacity = 0;
  Nanos quantum = 1;  // of kTimeslice
  // While pieces of two or more groups run at the same time, each speed is multiplied by this, up to the speed
  // that the piece has alone. kTimeslice never runs two groups at once.
  double co_run = 1;
};

class Fluid {
 public:
  static constexpr int kTenants = 128;
  static constexpr int kPieces = 32;
  static constexpr int kHistory = 64;

  void Reset(const ShareRules& rules, Nanos now);

  // Moves everything to `now`. Every change below takes effect at now(), so advance first.
  void Advance(Nanos now);

  // A new, idle tenant of `group`; -1 when the table is full.
  int Add(std::uint32_t group);
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
    double spinning;           // demand held, 0 for none
    std::uint32_t pieces_end;  // one past the last piece
    Piece pieces[kPieces];
  };
  // How far the tenants have come. Separate from Ask so that a forecast can run on a copy of this alone.
  struct State {
    Nanos now;
    Nanos slice_end;
    std::uint32_t running_group;
    std::uint32_t reserved;
    double served[kTenants];
    double rate[kTenants];
    std::uint32_t piece[kTenants];  // the piece in progress; pieces_end: idle
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
  void Share(State& s) const;
  double CoRun(const int* tenants, int count) const;
  Nanos NextEvent(const State& s) const;
  void MoveTo(State& s, Nanos time) const;
  void Settle();
  void Remember(int tenant);

  ShareRules rules_;
  std::int32_t high_water_;  // tenants at and above this index have never been used
  Nanos busy_;
  State state_;
  Ask asks_[kTenants];
  History history_[kTenants];
};

}  // namespace simgpu
