#include "deviceplugin/config/config.h"

#include "common/text/list.h"

namespace crossover::deviceplugin {

std::string NeedRestart(const Config& running, const Config& wanted) {
  std::string names;
  const auto compare = [&names](const char* name, bool same) {
    if (!same) text::AddTo(&names, name);
  };
  const arbiter::SocketSettings& before = running.arbiter.socket;
  const arbiter::SocketSettings& after = wanted.arbiter.socket;
  compare("socket", before.path == after.path && before.mode == after.mode && before.group == after.group);
  compare("limits", running.arbiter.limits == wanted.arbiter.limits);
  compare("metrics", running.metrics_listen == wanted.metrics_listen);
  compare("api", running.api_socket == wanted.api_socket);
  compare("trace_file", running.trace_file == wanted.trace_file);
  compare("profiles", running.profiles == wanted.profiles);
  compare("transport", running.transport == wanted.transport);
  return names;
}

}  // namespace crossover::deviceplugin
