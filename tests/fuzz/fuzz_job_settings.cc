// libs: crossover_sidecar_core
// Gives the library an environment, which is NAME=VALUE with zeros in between.
// The library takes turns exactly if the rule of each setting accepts it. It then does what the text says, as
// a second reader tells. A setting that a rule refuses is named, in one line.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "common/base/fd.h"
#include "common/base/job_environment.h"
#include "sidecar/session/config.h"
#include "tests/fuzz/require.h"

namespace {

namespace base = crossover::base;
using crossover::fuzz::Require;
using crossover::session::Config;

std::map<std::string, std::string> environment;
bool in_a_pod = false;

const char* Get(const char* name) {
  const auto found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.c_str();
}
bool Exists(const char*) { return in_a_pod; }

// Returns whether the variable is set. An empty name and empty memory count as not set.
bool Said(const base::JobVariable& variable) {
  const char* value = Get(variable.name);
  const bool may_be_empty = &variable == &base::kGang || &variable == &base::kGpuMemory;
  return value != nullptr && !(may_be_empty && *value == '\0');
}

bool ToBeRead() { return !base::IsOn(Get("CROSSOVER_DISABLE")) && (Said(base::kGang) || in_a_pod); }

bool AllAllowed() {
  for (const base::JobVariable* variable : base::kJobVariables) {
    if (Said(*variable) && !variable->allows(Get(variable->name))) return false;
  }
  return true;
}

// Reads a number of bytes with the C library's functions. They take more than the rule allows, but read an
// allowed text in the same way.
std::uint64_t BytesOf(const char* text) {
  char* end = nullptr;
  std::uint64_t bytes = std::strtoull(text, &end, 10);
  const std::string_view unit = end;
  const std::size_t power = unit.empty() ? 0 : std::string_view("KMGT").find(unit[0]) + 1;
  for (std::size_t i = 0; i < power; ++i) bytes *= unit.size() == 2 ? 1024 : 1000;
  return bytes;
}

template <std::size_t kSize>
void RequireText(const char (&text)[kSize], const char* expected) {
  Require(std::memchr(text, 0, kSize) != nullptr && std::strcmp(text, expected) == 0);
}

void Check(const Config& config) {
  RequireText(config.gang, Said(base::kGang) ? Get(base::kGang.name) : "");
  for (const char* c = config.gang; *c != '\0'; ++c) Require(*c > ' ' && *c <= '~');
  RequireText(config.socket, Said(base::kSocket) ? Get(base::kSocket.name) : base::kDefaultSocket);
  const std::uint64_t ranks =
      Said(base::kGangSize) ? std::strtoull(Get(base::kGangSize.name), nullptr, 10) : 0;
  Require(config.gang_size == ranks && ranks <= base::kMostRanks);
  Require(config.gpu_memory == (Said(base::kGpuMemory) ? BytesOf(Get(base::kGpuMemory.name)) : 0));
  const double slowdown = Said(base::kMaxSlowdown) ? std::strtod(Get(base::kMaxSlowdown.name), nullptr) : 0;
  Require(std::abs(config.max_slowdown - 1000 * slowdown) < 0.5);
  const std::string gates = Said(base::kGates) ? Get(base::kGates.name) : "gpu";
  Require((config.transport == CROSSOVER_TRANSPORT_HOST_GATES) == (gates == "host"));
  Require((config.transport == CROSSOVER_TRANSPORT_RELAYED_GATES) == (gates == "relay"));
  const std::string priority = Said(base::kPriority) ? Get(base::kPriority.name) : "normal";
  Require((config.priority == CROSSOVER_PRIORITY_HIGH) == (priority == "high"));
  Require((config.priority == CROSSOVER_PRIORITY_LOW) == (priority == "low"));
  Require(config.launch_blocking == base::IsOn(Get("CUDA_LAUNCH_BLOCKING")));
  Require(config.one_connection == base::IsOneConnection(Get("CUDA_DEVICE_MAX_CONNECTIONS")));
}

// Reads the environment. Returns what the library writes on stderr meanwhile.
std::string Read(Config* config) {
  static const auto pipe_ends = [] {
    std::array<int, 2> ends{};
    Require(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
    return ends;
  }();
  const base::UniqueFd own(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
  ::dup2(pipe_ends[1], STDERR_FILENO);
  *config = crossover::session::ParseConfig(&Get, &Exists);
  ::dup2(own.get(), STDERR_FILENO);
  std::array<char, 4096> text{};
  const ssize_t bytes = ::read(pipe_ends[0], text.data(), text.size());
  return {text.data(), static_cast<std::size_t>(std::max<ssize_t>(bytes, 0))};
}

// Requires that the log is one line, and begins with a setting that its rule refuses.
void CheckLog(const std::string& log) {
  std::size_t named = 0;
  for (const base::JobVariable* variable : base::kJobVariables) {
    if (!Said(*variable) || variable->allows(Get(variable->name))) continue;
    named += log.starts_with(std::string("crossover: ") + variable->name + ": expected ");
  }
  Require(named == 1 && log.back() == '\n');
  for (const char c : log.substr(0, log.size() - 1))
    Require(static_cast<unsigned char>(c) >= ' ' && c != 0x7f);
}

}  // namespace

// The first byte says whether a daemon's folder is there.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  environment.clear();
  in_a_pod = (data[0] & 1) != 0;
  std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
  while (!text.empty()) {
    const std::string_view setting = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(setting.size() + 1, text.size()));
    const std::size_t equals = setting.find('=');
    if (equals != setting.npos) {
      environment[std::string(setting.substr(0, equals))] = setting.substr(equals + 1);
    }
  }
  Config config;
  const std::string log = Read(&config);
  Require(config.active == (ToBeRead() && AllAllowed()));
  Require(log.empty() == (config.active || !ToBeRead()));
  if (config.active) Check(config);
  if (!log.empty()) CheckLog(log);
  return 0;
}
