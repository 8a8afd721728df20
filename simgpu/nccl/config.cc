#include "simgpu/nccl/config.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "common/base/refusal.h"

namespace simgpu::nccl {

namespace {

// The smallest ncclConfig_t ends before cgaClusterSize, as the oldest one did.
constexpr std::size_t kLeastSize = offsetof(ncclConfig_t, cgaClusterSize);
constexpr std::size_t kSaneSize = 4096;

// Reads a positive number from the environment. Returns 0 if there is none.
int PositiveFromEnvironment(const char* name) {
  const char* text = std::getenv(name);
  const long value = text == nullptr ? 0 : std::strtol(text, nullptr, 10);
  return value > 0 && value < 1024 ? static_cast<int>(value) : 0;
}

bool ReadCtas(int value, const char* name, int* ctas, std::string* error) {
  if (value == NCCL_CONFIG_UNDEF_INT) return true;
  *ctas = value;
  if (value > 0) return true;
  *error =
      crossover::base::Refusal(std::string("ncclConfig_t: ") + name, "at least 1", std::to_string(value));
  return false;
}

}  // namespace

bool ReadConfig(const ncclConfig_t* given, Config* config, std::string* error) {
  if (given == nullptr) return true;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  ncclConfig_t known = NCCL_CONFIG_INITIALIZER;
  if (size < kLeastSize || size > kSaneSize) {
    *error = "ncclConfig_t: size=" + std::to_string(size) + ": not initialised with NCCL_CONFIG_INITIALIZER";
    return false;
  }
  std::memcpy(&known, given, std::min(size, sizeof known));
  if (known.magic != NCCL_CONFIG_MAGIC) {
    *error = "ncclConfig_t: not initialised with NCCL_CONFIG_INITIALIZER (magic)";
    return false;
  }
  if (known.blocking != NCCL_CONFIG_UNDEF_INT && known.blocking != 0 && known.blocking != 1) {
    *error = crossover::base::Refusal("ncclConfig_t: blocking", "0 or 1", std::to_string(known.blocking));
    return false;
  }
  config->blocking = known.blocking != 0;  // undefined means blocking
  if (!ReadCtas(known.minCTAs, "minCTAs", &config->least_ctas, error)) return false;
  if (!ReadCtas(known.maxCTAs, "maxCTAs", &config->most_ctas, error)) return false;
  if (config->most_ctas == 0 || config->least_ctas <= config->most_ctas) return true;
  *error = "ncclConfig_t: minCTAs=" + std::to_string(config->least_ctas) +
           " is above maxCTAs=" + std::to_string(config->most_ctas);
  return false;
}

bool ReadConfigOfChild(const ncclConfig_t* given, Config* config, std::string* error) {
  return given == nullptr || ReadConfig(given, &(*config = Config{}), error);
}

int ChooseCtas(const Config& config, int machine_ctas) {
  int ctas = std::max(machine_ctas, 1);
  for (const int least : {PositiveFromEnvironment("NCCL_MIN_CTAS"), config.least_ctas})
    ctas = std::max(ctas, least);
  for (const int most : {PositiveFromEnvironment("NCCL_MAX_CTAS"), config.most_ctas}) {
    if (most > 0) ctas = std::min(ctas, most);
  }
  return ctas;
}

int LibraryVersion(std::string* error) {
  const char* text = std::getenv("SIMGPU_NCCL_VERSION");
  if (text == nullptr) return NCCL_VERSION_CODE;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*text != '\0' && *end == '\0' && value >= 2000 && value <= 99999) return static_cast<int>(value);
  *error = crossover::base::Refusal("SIMGPU_NCCL_VERSION", "a version code from 2000 to 99999, such as 22809",
                                    text);
  return 0;
}

}  // namespace simgpu::nccl
