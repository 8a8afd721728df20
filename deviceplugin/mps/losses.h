// Notices servers of MPS that end unexpectedly: a server that is killed, crashes or is shut down. Its control
// daemon starts another one for the next client, so MPS goes on to take clients. But the programs
// that were clients of the server that ended fail. Pure; not thread-safe.
#pragma once

#include <sys/types.h>

#include <optional>
#include <vector>

#include "deviceplugin/mps/control.h"

namespace crossover::deviceplugin {

class MpsLosses {
 public:
  // Compares a list of the living servers with the last one. Returns the process ID of a server that has
  // ended unexpectedly since then, if there is one. A server that makes room for that of another user ends as
  // expected. Between these two there may be no server, so the first empty list in a row decides nothing.
  std::optional<pid_t> OnList(const std::vector<MpsControl::Server>& servers);
  // Forgets all lists, because the control daemon is gone or is another one.
  void Forget() { *this = {}; }

 private:
  std::vector<MpsControl::Server> before_;  // the servers of the last list that was not empty
  bool empty_ = false;                      // the last list was empty
};

}  // namespace crossover::deviceplugin
