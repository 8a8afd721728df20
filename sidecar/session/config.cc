#include "sidecar/session/config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <cerrno>
#include <cstddef>

#include "sidecar/log/log.h"

namespace crossover::session {
namespace {

constexpr char kDefaultSocket[] = "/run/crossover/arbiter.sock";

bool Refuse(const char* key, const char* value, const char* allowed) {
  log::Write(log::Level::kError, "%s=%.64s: %s; the job runs without taking turns", key, value, allowed);
  return false;
}

bool CopyText(const char* key, const char* value, char* to, std::size_t room, const char* allowed) {
  const std::size_t length = strlen(value);
  if (length == 0 || length >= room) return Refuse(key, value, allowed);
  memcpy(to, value, length + 1);
  return true;
}

bool ParseSize(const char* value, std::uint32_t* size) {
  char* end = nullptr;
  errno = 0;
  const unsigned long parsed = strtoul(value, &end, 10);
  if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || parsed == 0 || parsed > 1'000'000) {
    return Refuse("CROSSOVER_GANG_SIZE", value, "a number of ranks from 1 to 1000000 is allowed");
  }
  *size = static_cast<std::uint32_t>(parsed);
  return true;
}

bool ParseGates(const char* value, bool* gpu_gates) {
  *gpu_gates = strcmp(value, "gpu") == 0;
  if (*gpu_gates || strcmp(value, "host") == 0) return true;
  return Refuse("CROSSOVER_GATES", value, "gpu or host is allowed");
}

bool ParsePriority(const char* value, std::uint32_t* priority) {
  constexpr const char* kNames[] = {"normal", "low", "high"};  // in order of enum crossover_priority
  for (std::uint32_t i = 0; i < 3; ++i) {
    if (strcmp(value, kNames[i]) == 0) {
      *priority = i;
      return true;
    }
  }
  return Refuse("CROSSOVER_TURN_PRIORITY", value, "high, normal or low is allowed");
}

bool ParseLogLevel(const char* value) {
  constexpr const char* kNames[] = {"error", "warn", "info", "debug"};
  for (int level = 0; level < 4; ++level) {
    if (strcmp(value, kNames[level]) == 0) {
      log::SetLevel(static_cast<log::Level>(level));
      return true;
    }
  }
  return Refuse("CROSSOVER_LOG", value, "error, warn, info or debug is allowed");
}

bool IsOn(const char* value) { return value != nullptr && value[0] != '\0' && strcmp(value, "0") != 0; }

Config config;
pthread_once_t config_once = PTHREAD_ONCE_INIT;

}  // namespace

Config ParseConfig(const char* (*get)(const char* name)) {
  Config parsed;
  const char* gang = get("CROSSOVER_GANG");
  if (gang == nullptr || gang[0] == '\0' || IsOn(get("CROSSOVER_DISABLE"))) return parsed;
  bool valid = CopyText("CROSSOVER_GANG", gang, parsed.gang, sizeof parsed.gang,
                        "a name of at most 127 characters is allowed");
  if (const char* level = get("CROSSOVER_LOG"); valid && level != nullptr) valid = ParseLogLevel(level);
  const char* socket = get("CROSSOVER_SOCKET");
  valid = valid && CopyText("CROSSOVER_SOCKET", socket == nullptr ? kDefaultSocket : socket, parsed.socket,
                            sizeof parsed.socket, "a path of 1 to 107 characters is allowed");
  if (const char* size = get("CROSSOVER_GANG_SIZE"); valid && size != nullptr) {
    valid = ParseSize(size, &parsed.gang_size);
  }
  if (const char* gates = get("CROSSOVER_GATES"); valid && gates != nullptr) {
    valid = ParseGates(gates, &parsed.gpu_gates);
  }
  if (const char* priority = get("CROSSOVER_TURN_PRIORITY"); valid && priority != nullptr) {
    valid = ParsePriority(priority, &parsed.priority);
  }
  parsed.launch_blocking = IsOn(get("CUDA_LAUNCH_BLOCKING"));
  parsed.active = valid;
  return parsed;
}

const Config& GetConfig() {
  pthread_once(&config_once,
               [] { config = ParseConfig([](const char* name) -> const char* { return getenv(name); }); });
  return config;
}

}  // namespace crossover::session
