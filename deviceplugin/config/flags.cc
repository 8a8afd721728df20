#include "deviceplugin/config/flags.h"

#include <array>
#include <string_view>

#include "common/base/refusal.h"
#include "deviceplugin/arbiter/client_messages.h"
#include "deviceplugin/values/values.h"

namespace crossover::deviceplugin {

const char kFlagHelp[] = R"(crossover-arbiter: keeps the turns of this machine's GPUs

  --socket PATH         where clients connect (default /run/crossover/arbiter.sock)
  --socket-mode MODE    its file mode, octal (default 0666)
  --socket-group GROUP  its group, name or number (default: the daemon's)
  --mode MODE           enforce, observe or off (default enforce)
  --gpus all|UUID,...   GPUs whose turns are kept (default all)
  --tie-window-us W     auto, off or 1 to 10000 (default auto): clients that ask for a turn within this time
                        get their turns in the order of their names
  --quantum-us Q        off or 1000 to 1000000 (default 5000): a turn may be broken after this time for a client
                        that has had too little of the GPU; off: turns stay whole
  --guard on|off        whether jobs run side by side where turns do not pay (default on)
  --watchdog-floor-ms N 1 to 60000 (default 200): shortest turn that counts as stuck
  --transport T         host, ipc or auto (default host): whether clients may wait for signals
  --trace FILE          append events as JSON lines
  --log-level LEVEL     error, warn, info or debug (default info)
  --help, --version
)";

namespace {

using Text = std::string_view;

bool SetGpus(Text text, Config* config) {
  if (text == "all") {
    config->arbiter.live.gpus.reset();
    return true;
  }
  std::vector<std::string> gpus;
  while (true) {
    const std::size_t comma = text.find(',');
    const Text uuid = text.substr(0, comma);
    if (!arbiter::ValidGpuUuid(uuid)) return false;
    gpus.emplace_back(uuid);
    if (comma == Text::npos) break;
    text.remove_prefix(comma + 1);
  }
  config->arbiter.live.gpus = std::move(gpus);
  return true;
}

bool SetSocket(Text text, Config* config) {
  config->arbiter.socket.path = text;
  return ValidSocketPath(text);
}

bool SetSocketMode(Text text, Config* config) {
  const auto mode = ParseFileMode(text);
  if (mode) config->arbiter.socket.mode = *mode;
  return mode.has_value();
}

bool SetSocketGroup(Text text, Config* config) {
  config->arbiter.socket.group = ParseGroup(std::string(text));
  return config->arbiter.socket.group.has_value();
}

bool SetMode(Text text, Config* config) {
  const auto policy = ParsePolicy(text);
  if (policy) config->arbiter.live.policy = *policy;
  return policy.has_value();
}

bool SetTieWindow(Text text, Config* config) {
  return ParseTieWindow(text, &config->arbiter.live.turn.policy);
}

bool SetQuantum(Text text, Config* config) { return ParseQuantum(text, &config->arbiter.live.turn.policy); }

bool SetGuard(Text text, Config* config) {
  config->arbiter.live.guard = text == "on";
  return text == "on" || text == "off";
}

bool SetWatchdogFloor(Text text, Config* config) {
  const auto floor = ParseInteger(text, 1, 60'000);
  if (floor) config->arbiter.live.turn.watchdog.floor = *floor * 1'000'000;
  return floor.has_value();
}

bool SetTransport(Text text, Config* config) {
  const auto transport = signals::ParseTransport(text);
  config->transport = transport.value_or(config->transport);
  return transport.has_value();
}

bool SetTrace(Text text, Config* config) {
  config->trace_file = text;
  return !text.empty();
}

bool SetLogLevel(Text text, Config* config) {
  const auto level = logging::ParseLevel(text);
  if (level) config->log_level = *level;
  return level.has_value();
}

struct Flag {
  Text name;
  bool (*set)(Text value, Config* config);
  Text expected;
};

constexpr std::array kFlags = {
    Flag{"--socket", SetSocket, kSocketPathAllowed},
    Flag{"--socket-mode", SetSocketMode, kSocketModeAllowed},
    Flag{"--socket-group", SetSocketGroup, kGroupAllowed},
    Flag{"--mode", SetMode, kModeAllowed},
    Flag{"--gpus", SetGpus, kGpusAllowed},
    Flag{"--tie-window-us", SetTieWindow, kTieWindowAllowed},
    Flag{"--quantum-us", SetQuantum, kQuantumAllowed},
    Flag{"--guard", SetGuard, "on or off"},
    Flag{"--watchdog-floor-ms", SetWatchdogFloor, "1 to 60000"},
    Flag{"--transport", SetTransport, signals::kTransportAllowed},
    Flag{"--trace", SetTrace, "a file name"},
    Flag{"--log-level", SetLogLevel, kLogLevelAllowed},
};

}  // namespace

FlagResult ParseFlags(std::span<const char* const> arguments) {
  Config config;
  while (!arguments.empty()) {
    const Text name = arguments[0];
    if (name == "--help") return HelpWanted{};
    if (name == "--version") return VersionWanted{};
    const Flag* found = nullptr;
    for (const Flag& flag : kFlags) {
      if (flag.name == name) found = &flag;
    }
    if (found == nullptr) return FlagError{std::string(name) + ": unknown flag; --help lists them"};
    if (arguments.size() < 2) return FlagError{base::Refusal(name, found->expected, "no value")};
    const Text value = arguments[1];
    if (!found->set(value, &config)) {
      return FlagError{base::Refusal(name, found->expected, value)};
    }
    arguments = arguments.subspan(2);
  }
  return config;
}

}  // namespace crossover::deviceplugin
