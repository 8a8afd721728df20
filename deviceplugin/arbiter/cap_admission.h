// Decides which caps on slowdown the clients of one GPU can have together. Clients that are present keep
// their caps. If the cap of a new client cannot be kept together with theirs, that cap is refused, with the
// reason. The client still runs, on what the others leave: their caps hold, whichever clients come.
//
// If turns last until their collectives have ended (in time-slices), turns are not broken and the jobs take
// one turn each. Then a cap that cannot be kept is refused, whichever client came first.
//
// All GPUs of the jobs must decide in the same way. The times of joining decide which client was first, if
// they lie clearly apart; otherwise the names decide.
//
// Pure; not thread-safe.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <vector>

#include "turn/caps.h"
#include "turn/client_words.h"

namespace crossover::arbiter {

class CapAdmission {
 public:
  struct Change {
    turn::SlotIndex slot;
    std::string refusal;  // one line for the user; empty if the cap is in force again
  };
  struct Need {
    turn::Demand demand;
    std::uint32_t turns = 1;  // turns of an iteration
  };
  using NeedOf = std::function<Need(turn::SlotIndex slot)>;

  // Adds a client. `cap` is step time together over step time alone, or 0 for no cap.
  void Join(turn::SlotIndex slot, std::string gang, double cap, turn::Time now);
  void Leave(turn::SlotIndex slot);
  // Sets whether turns last until their collectives have ended (in time-slices).
  void SetTurnsLast(bool last);

  // Returns whether Judge has work: clients or the rule have changed, and at least one client has a cap.
  bool pending() const { return pending_; }
  // Decides once for each set of clients, as soon as `need` returns a known demand for each of them. Until
  // then it changes nothing, and the cap of a new client is in force. Returns the clients whose result has
  // changed.
  std::vector<Change> Judge(const NeedOf& need);

  // Returns whether at least one client has a cap, refused or not.
  bool any() const;
  // Returns the cap in force, or 0 if the client has none or it was refused.
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
