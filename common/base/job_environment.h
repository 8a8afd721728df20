// Defines the environment variables of a job that takes turns, and the values that each may have. The
// library that reads the variables and the programs that set or check them use these same rules. Allocates
// nothing.
#pragma once

#include <cstddef>

namespace crossover::base {

inline constexpr std::size_t kLongestGang = 127;
inline constexpr std::size_t kLongestSocket = 107;  // size of sockaddr_un::sun_path without the closing zero
inline constexpr unsigned long kMostRanks = 1'000'000;
inline constexpr char kDefaultSocket[] = "/run/crossover/arbiter.sock";

// Returns the length of a text that ends with a zero byte. The compiler can evaluate it, unlike strlen().
constexpr std::size_t LengthOf(const char* text) {
  std::size_t length = 0;
  while (text[length] != '\0') ++length;
  return length;
}

constexpr bool Same(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) ++a, ++b;
  return *a == *b;
}

// Each of the functions Is..() returns whether `text` is a valid value of its variable.
constexpr bool IsGang(const char* text) {
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c <= ' ' || *c > '~') return false;
  }
  return text[0] != '\0' && LengthOf(text) <= kLongestGang;
}

// Returns the number of ranks, or 0 if `text` is not a valid number of ranks.
constexpr unsigned long GangSizeOf(const char* text) {
  unsigned long size = 0;
  for (const char* c = text; *c != '\0'; ++c) {
    if (*c < '0' || *c > '9') return 0;
    size = size * 10 + static_cast<unsigned long>(*c - '0');
    if (size > kMostRanks) return 0;
  }
  return size;
}
constexpr bool IsGangSize(const char* text) { return GangSizeOf(text) != 0; }

constexpr bool IsSocket(const char* text) { return text[0] != '\0' && LengthOf(text) <= kLongestSocket; }
constexpr bool IsGates(const char* text) {
  return Same(text, "gpu") || Same(text, "ipc") || Same(text, "relay") || Same(text, "host");
}
constexpr bool IsPriority(const char* text) {
  return Same(text, "high") || Same(text, "normal") || Same(text, "low");
}
// A slowdown is in thousandths: 1050 is 1.05.
inline constexpr unsigned kMostSlowdown = 10'000;
constexpr bool AllowedSlowdown(unsigned thousandths) {
  return thousandths >= 1050 && thousandths <= kMostSlowdown;
}
// Returns the slowdown in thousandths from text like 1.2 or 1.25, or 0 if `text` is not valid.
constexpr unsigned SlowdownOf(const char* text) {
  unsigned thousandths = 0;
  unsigned unit = 1000;
  const char* c = text;
  for (; *c >= '0' && *c <= '9' && thousandths <= kMostSlowdown; ++c) {
    thousandths = thousandths * 10 + static_cast<unsigned>(*c - '0') * 1000;
  }
  if (c == text) return 0;
  if (*c == '.') {
    for (++c; *c >= '0' && *c <= '9' && unit > 1; ++c)
      thousandths += static_cast<unsigned>(*c - '0') * (unit /= 10);
    if (unit == 1000) return 0;
  }
  return *c == '\0' && AllowedSlowdown(thousandths) ? thousandths : 0;
}
constexpr bool IsSlowdown(const char* text) { return SlowdownOf(text) != 0; }
// GpuMemoryOf() returns bytes from text like 1000000000, 512Mi or 20Gi, or 0 if `text` is not valid or
// the value is out of these bounds.
inline constexpr unsigned long long kLeastGpuMemory = 16ull << 20;
inline constexpr unsigned long long kMostGpuMemory = 1ull << 50;
constexpr unsigned long long GpuMemoryOf(const char* text) {
  unsigned long long bytes = 0;
  const char* c = text;
  for (; *c >= '0' && *c <= '9'; ++c) {
    bytes = bytes * 10 + static_cast<unsigned long long>(*c - '0');
    if (bytes > kMostGpuMemory) return 0;
  }
  if (c == text) return 0;
  constexpr const char* kUnits = "KMGT";
  for (const char* unit = kUnits; *unit != '\0'; ++unit) {
    if (*c != *unit) continue;
    const bool binary = *++c == 'i';
    if (binary) ++c;
    for (const char* u = kUnits; u <= unit; ++u) {
      bytes *= binary ? 1024 : 1000;
      if (bytes > kMostGpuMemory) return 0;
    }
    break;
  }
  return *c == '\0' && bytes >= kLeastGpuMemory ? bytes : 0;
}
constexpr bool IsGpuMemory(const char* text) { return GpuMemoryOf(text) != 0; }
constexpr bool IsSwitch(const char* text) { return Same(text, "0") || Same(text, "1"); }
constexpr bool IsLogLevel(const char* text) {
  return Same(text, "error") || Same(text, "warn") || Same(text, "info") || Same(text, "debug");
}

// Returns whether a variable that switches something is on. Unset (null), empty and "0" mean off.
constexpr bool IsOn(const char* text) { return text != nullptr && text[0] != '\0' && !Same(text, "0"); }

// Returns whether the driver takes this value of CUDA_DEVICE_MAX_CONNECTIONS for one connection. Null means
// that the variable is not set.
constexpr bool IsOneConnection(const char* text) {
  if (text == nullptr) return false;
  while (*text == ' ') ++text;
  while (*text == '0') ++text;
  return *text == '1' && (text[1] < '0' || text[1] > '9');
}

struct JobVariable {
  const char* name;
  bool (*allows)(const char* text);
  const char* expected;  // describes what `allows` accepts
};

inline constexpr JobVariable kGang = {"CROSSOVER_GANG", IsGang,
                                      "1 to 127 printable ASCII characters without spaces"};
inline constexpr JobVariable kGangSize = {"CROSSOVER_GANG_SIZE", IsGangSize,
                                          "a number of ranks from 1 to 1000000"};
inline constexpr JobVariable kSocket = {"CROSSOVER_SOCKET", IsSocket, "a path of 1 to 107 bytes"};
inline constexpr JobVariable kGates = {"CROSSOVER_GATES", IsGates, "gpu, ipc, relay or host"};
inline constexpr JobVariable kPriority = {"CROSSOVER_TURN_PRIORITY", IsPriority, "high, normal or low"};
inline constexpr JobVariable kMaxSlowdown = {"CROSSOVER_MAX_SLOWDOWN", IsSlowdown,
                                             "a number from 1.05 to 10 with at most three decimals"};
inline constexpr JobVariable kGpuMemory = {
    "CROSSOVER_GPU_MEMORY", IsGpuMemory,
    "a whole number of bytes, or one with K, M, G, T, Ki, Mi, Gi or Ti, from 16Mi to 1024Ti"};
inline constexpr JobVariable kTurnsAtWaits = {"CROSSOVER_TURNS_AT_WAITS", IsSwitch, "0 or 1"};
inline constexpr JobVariable kLogLevel = {"CROSSOVER_LOG", IsLogLevel, "error, warn, info or debug"};
inline constexpr const JobVariable* kJobVariables[] = {&kGang,      &kGangSize,     &kSocket,
                                                       &kGates,     &kPriority,     &kMaxSlowdown,
                                                       &kGpuMemory, &kTurnsAtWaits, &kLogLevel};

}  // namespace crossover::base
