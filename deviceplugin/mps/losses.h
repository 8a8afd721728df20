// Notices servers of MPS that end before their time: one that is killed, crashes or is shut down. Its control
// daemon starts another one for the next client, so MPS takes clients all along, but those of the one that
// ended have ended with it. Pure; not thread-safe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "deviceplugin/mps/control.h"

namespace crossover::deviceplugin {

class MpsLosses {
 public:
  // Takes a list of the servers that live into account. Returns the process ID of one that has ended before
  // its time since an earlier list. A server that makes room for that of another user ends in its time.
  // Between the two there may be none, so the first empty list decides nothing.
  std::optional<pid_t> OnList(const std::vector<MpsControl::Server>& servers);
  // Forgets all lists, because the control daemon is gone or is another one.
  void Forget() { *this = {}; }

 private:
  std::vector<MpsControl::Server> before_;  // the servers of the last list that was not empty
  bool empty_ = false;                      // the last list was
};

}  // namespace crossover::deviceplugin
