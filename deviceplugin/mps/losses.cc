#include "deviceplugin/mps/losses.h"

#include <algorithm>

namespace crossover::deviceplugin {

std::optional<pid_t> MpsLosses::OnList(const std::vector<MpsControl::Server>& servers) {
  if (servers.empty() && !empty_) {
    empty_ = true;
    return std::nullopt;
  }
  std::optional<pid_t> lost;
  for (const MpsControl::Server& old : before_) {
    const auto is_it = [&old](const auto& server) { return server.pid == old.pid; };
    const auto is_its_users = [&old](const auto& server) { return server.uid == old.uid; };
    if (std::any_of(servers.begin(), servers.end(), is_it)) continue;
    const bool made_room = !servers.empty() && std::none_of(servers.begin(), servers.end(), is_its_users);
    if (!made_room) lost = old.pid;
  }
  empty_ = servers.empty();
  before_ = servers;
  return lost;
}

}  // namespace crossover::deviceplugin
