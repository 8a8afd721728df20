// Which caps on slowdown the clients of one GPU can be promised together: those of whoever was here before
// stand, and a newcomer whose own cannot be kept beside them is refused it, with the reason. It still runs,
// on what the others leave: their caps hold, whoever comes.
//
// Where turns last until their collectives have ended (in time-slices) they are not broken, and the jobs take
// one turn each: a cap below what that makes of a job is refused it, whoever was here before.
//
// All GPUs of the jobs must judge alike. Who was here before is told by the instants of joining where they
// lie clearly apart, else by the names.
//
// Pure; not thread-safe.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "turn/caps.h"
#include "turn/words.h"

namespace crossover::arbiter {

class Promises {
 public:
  struct Change {
    turn::SlotIndex slot;
    std::string refusal;  // one line, for whoever started the job; empty where its cap is in force again
  };
  struct Need {
    turn::Demand demand;
    std::uint32_t turns = 1;  // of an iteration
  };
  using NeedOf = std::function<Need(turn::SlotIndex slot)>;

  // `cap`: step together over step alone; 0 for none.
  void Join(turn::SlotIndex slot, std::string gang, double cap, turn::Time now);
  void Leave(turn::SlotIndex slot);
  void SetTurnsLast(bool last);

  // Whether Judge has something to do: the company or the rule changed, and somebody has a cap.
  bool pending() const { return pending_; }
  // Judges once per company, as soon as every demand is known; until then all caps stand. Returns what it
  // changed.
  std::vector<Change> Judge(const NeedOf& need);

  bool any() const;
  // In force: 0 where there is none, or it was refused.
  double cap(turn::SlotIndex slot) const { return client_[slot].refused ? 0 : client_[slot].cap; }
  bool refused(turn::SlotIndex slot) const { return client_[slot].refused; }

 private:
  struct Client {
    std::string gang;
    double cap = 0;
    turn::Time joined = 0;
    bool refused = false;
  };
  std::vector<Change> JudgeBySeniority(const NeedOf& need);
  std::vector<Change> JudgeWholeTurns(const NeedOf& need);
  std::vector<turn::SlotIndex> BySeniority() const;
  std::string Reason(turn::SlotIndex newcomer, const std::vector<turn::SlotIndex>& before, double part) const;

  std::array<Client, turn::kMaxSlots> client_;
  turn::SlotSet present_;
  bool turns_last_ = false;
  bool pending_ = false;
};

}  // namespace crossover::arbiter
