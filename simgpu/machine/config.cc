#include "simgpu/machine/config.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>
#include <utility>

#include "common/base/refusal.h"
#include "simgpu/kernels/rules.h"

namespace simgpu {
namespace {

constexpr std::size_t kMostOfAMix = 64;

// Sets *error to the refusal of a value, and returns false.
bool Refuse(const std::string& key, const std::string& expected, const std::string& got, std::string* error) {
  *error = crossover::base::Refusal(key, expected, got);
  return false;
}

std::string Plain(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.15g", value);
  return text;
}

bool SetNumber(const std::string& key, const std::string& value, double low, double high, bool whole,
               double* out, std::string* error) {
  if (ReadNumber(value, low, high, out) && (!whole || *out == std::floor(*out))) return true;
  const std::string kind = whole ? "a whole number" : "a number";
  return Refuse(key, kind + " from " + Plain(low) + " to " + Plain(high), value, error);
}

template <typename T>
bool SetWhole(const std::string& key, const std::string& value, double low, double high, T* out,
              std::string* error) {
  double number = 0;
  if (!SetNumber(key, value, low, high, true, &number, error)) return false;
  *out = static_cast<T>(number);
  return true;
}

bool SetChoice(const std::string& key, const std::string& value, const char* no, const char* yes, bool* out,
               std::string* error) {
  if (value != no && value != yes) return Refuse(key, std::string(no) + " or " + yes, value, error);
  *out = value == yes;
  return true;
}

// Sets *out to what one of three words means.
template <typename T>
bool SetWord(const std::string& key, const std::string& value, const std::pair<const char*, T> (&words)[3],
             T* out, std::string* error) {
  for (const auto& [word, meaning] : words) {
    if (value != word) continue;
    *out = meaning;
    return true;
  }
  return Refuse(key, std::string(words[0].first) + ", " + words[1].first + " or " + words[2].first, value,
                error);
}

constexpr std::pair<const char*, ChannelOrder> kChannelOrders[] = {
    {"free", ChannelOrder::kFree}, {"release", ChannelOrder::kRelease}, {"in_order", ChannelOrder::kInOrder}};
constexpr std::pair<const char*, ComputeMode> kComputeModes[] = {
    {"default", ComputeMode::kDefault},
    {"exclusive_process", ComputeMode::kExclusiveProcess},
    {"prohibited", ComputeMode::kProhibited}};

bool SetHollow(const std::string& key, const std::string& value, std::uint64_t* out, std::string* error) {
  constexpr std::uint64_t kLeast = 64 << 10;  // smaller ones hold what programs decide by
  double bytes = 0;
  if (value != "off" &&
      (!ReadNumber(value, static_cast<double>(kLeast), 1e15, &bytes) || bytes != std::floor(bytes))) {
    return Refuse(key, "off or a whole number of bytes from 65536 to 1e15", value, error);
  }
  *out = value == "off" ? UINT64_MAX : static_cast<std::uint64_t>(bytes);
  return true;
}

bool SetLoading(const std::string& key, const std::string& value, LoadingRule* out, std::string* error) {
  double every = 0;
  if (value == "off") {
    out->every = 0;
  } else if (value == "first") {
    out->every = LoadingRule::kOnce;
  } else if (ReadNumber(value, 2, 1e6, &every) && every == std::floor(every)) {
    out->every = static_cast<std::int64_t>(every);
  } else {
    return Refuse(key, "off, first or a whole number from 2 to 1000000", value, error);
  }
  return true;
}

// A WholeKey is a key that takes a whole number from `low` to `high`.
struct WholeKey {
  const char* key;
  double low, high;
  std::int64_t MachineConfig::*field;
};
constexpr WholeKey kWholeKeys[] = {{"quantum_us", 10, 1e7, &MachineConfig::quantum_us},
                                   {"launch_us", 0, 10000, &MachineConfig::launch_us},
                                   {"handover_us", 0, 100000, &MachineConfig::handover_us},
                                   {"switch_us", 0, 100000, &MachineConfig::switch_us},
                                   {"blocked_wait_ns", 0, 1e7, &MachineConfig::blocked_wait_ns},
                                   {"blocked_device_wait_ns", 0, 1e7, &MachineConfig::blocked_device_wait_ns},
                                   {"outside_copy_us", 0, 1e7, &MachineConfig::outside_copy_us},
                                   {"loading_us", 0, 1e7, &MachineConfig::loading_us}};

bool IsUuid(const std::string& text) {
  static const std::string kShape = "GPU-xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
  return text.size() == kShape.size() &&
         std::equal(text.begin(), text.end(), kShape.begin(), [](char c, char shape) {
           return shape == 'x' ? std::isxdigit(static_cast<unsigned char>(c)) != 0 : c == shape;
         });
}

bool CheckGpus(const NodeConfig& node, std::set<std::string>* seen, std::string* error) {
  for (const GpuConfig& gpu : node.gpus) {
    if (!IsUuid(gpu.uuid))
      return Refuse("uuid", "the form GPU-00000000-0000-0000-0000-000000000000", gpu.uuid, error);
    if (!seen->insert(gpu.uuid).second)
      return Refuse("uuid", "one for each GPU", gpu.uuid + " for two GPUs", error);
  }
  return true;
}

bool SetCtas(const std::string& key, const std::string& value, CollectiveSms* out, std::string* error) {
  const bool percent = !value.empty() && value.back() == '%';
  const std::string number = percent ? value.substr(0, value.size() - 1) : value;
  CollectiveSms result{0, percent};
  const bool good = ReadNumber(number, 1, percent ? 100 : 1024, &result.value) &&
                    (percent || result.value == std::floor(result.value));
  if (good) {
    *out = result;
  } else {
    Refuse(key, "a whole number from 1 to 1024 or a part from 1% to 100%", value, error);
  }
  return good;
}

bool SetMix(const std::string& key, const std::string& value, std::vector<double>* out, std::string* error) {
  std::vector<double> mix;
  std::istringstream words(value);
  bool good = true;
  for (std::string word; good && words >> word;) good = ReadNumber(word, 1, 100, &mix.emplace_back());
  if (good && !mix.empty() && mix.size() <= kMostOfAMix) {
    *out = mix;
    return true;
  }
  return Refuse(key, "1 to 64 numbers from 1 to 100 with blanks between them", value, error);
}

void Mix(std::uint64_t* digest, const std::string& text) {
  for (const char c : text + '\n') *digest = (*digest ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
}

}  // namespace

int CollectiveSms::Of(int sms) const {
  return std::max(1, static_cast<int>(percent ? std::floor(value * sms / 100) : value));
}

std::string DefaultUuid(int node, int gpu) {
  char uuid[48];
  std::snprintf(uuid, sizeof uuid, "GPU-00000000-0000-0000-%04x-%012x", static_cast<unsigned>(node),
                static_cast<unsigned>(gpu));
  return uuid;
}

NodeConfig DefaultNode(int node, int gpus) {
  NodeConfig result;
  result.name = "node" + std::to_string(node);
  for (int gpu = 0; gpu < gpus; ++gpu) {
    result.gpus.emplace_back();
    result.gpus.back().uuid = DefaultUuid(node, gpu);
  }
  return result;
}

bool SetScalar(MachineConfig* config, const std::string& key, const std::string& value, std::string* error) {
  if (key == "state") {
    config->state = value;
    return !value.empty() || Refuse(key, "a directory name", value, error);
  }
  if (key == "mode") {
    bool timeslice = false;
    if (!SetChoice(key, value, "mps", "timeslice", &timeslice, error)) return false;
    config->mode = timeslice ? ShareMode::kTimeslice : ShareMode::kShared;
    return true;
  }
  for (const WholeKey& whole : kWholeKeys) {
    if (key == whole.key) return SetWhole(key, value, whole.low, whole.high, &(config->*whole.field), error);
  }
  if (key == "queue_depth") return SetWhole(key, value, 1, 1 << 20, &config->queue_depth, error);
  if (key == "link_sharing") return SetChoice(key, value, "shared", "private", &config->private_links, error);
  if (key == "node_link_bytes_per_s") {
    return SetNumber(key, value, 1, 1e15, false, &config->node_link_bytes_per_s, error);
  }
  if (key == "gpu_link_bytes_per_s") {
    return SetNumber(key, value, 1, 1e15, false, &config->gpu_link_bytes_per_s, error);
  }
  if (key == "nccl_ctas") return SetCtas(key, value, &config->nccl_ctas, error);
  if (key == "collective_start") {
    return SetChoice(key, value, "at_once", "when_free", &config->collectives_wait, error);
  }
  if (key == "collective_slowdown") {
    return SetNumber(key, value, 0, 10, false, &config->collective_slowdown, error);
  }
  if (key == "kernel_mix") return SetMix(key, value, &config->kernel_mix, error);
  if (key == "kernel_scale") return SetNumber(key, value, 0, 1e6, false, &config->kernel_costs.scale, error);
  if (key == "kernel_effects") return SetChoice(key, value, "false", "true", &config->kernel_effects, error);
  if (key == "hollow_copies_from") return SetHollow(key, value, &config->hollow_copies_from, error);
  if (key == "hollow_collectives_from") {
    return SetHollow(key, value, &config->hollow_collectives_from, error);
  }
  if (key == "co_run") return SetNumber(key, value, 0.9, 1.4, false, &config->co_run, error);
  if (key == "channels") return SetWhole(key, value, 1, kMaxChannels, &config->channels, error);
  if (key == "channel_order") return SetWord(key, value, kChannelOrders, &config->channel_order, error);
  if (key == "compute_mode") return SetWord(key, value, kComputeModes, &config->compute_mode, error);
  if (key == "lazy_loading") return SetLoading(key, value, &config->lazy_loading, error);
  if (key == "node") return SetWhole(key, value, 0, kMaxNodes - 1, &config->node, error);
  if (key == "device_files") return SetChoice(key, value, "false", "true", &config->device_files, error);
  *error =
      "unknown key '" + key +
      "'; known are state, mode, quantum_us, launch_us, queue_depth, link_sharing, node_link_bytes_per_s, "
      "gpu_link_bytes_per_s, nccl_ctas, co_run, collective_start, collective_slowdown, kernel_mix, channels, "
      "channel_order, handover_us, switch_us, blocked_wait_ns, blocked_device_wait_ns, outside_copy_us, "
      "compute_mode, lazy_loading, loading_us, kernel_scale, kernel_effects, hollow_copies_from, "
      "hollow_collectives_from, node, device_files, kernels, nodes";
  return false;
}

std::optional<MachineConfig> ParseMachineShape(const std::string& shape, std::string* error) {
  std::istringstream parts(shape);
  std::string part;
  std::getline(parts, part, ',');
  int nodes = 0, gpus = 0, used = 0;
  if (std::sscanf(part.c_str(), "%2dx%2d%n", &nodes, &gpus, &used) != 2 ||
      static_cast<std::size_t>(used) != part.size() || nodes < 1 || nodes > kMaxNodes || gpus < 1 ||
      nodes * gpus > kMaxGpus) {
    Refuse("SIMGPU_MACHINE", "<nodes>x<gpus>, such as 2x2 (at most 64 of each in all)", part, error);
    return std::nullopt;
  }
  MachineConfig config;
  for (int node = 0; node < nodes; ++node) config.nodes.push_back(DefaultNode(node, gpus));
  // Prefer a tmpfs: a page of a disk file blocks its writers while it is written back.
  const std::string base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
  config.state = base + "/simgpu-" + std::to_string(getuid()) + "-" + part;
  while (std::getline(parts, part, ',')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string::npos) {
      Refuse("SIMGPU_MACHINE", "key=value", part, error);
      return std::nullopt;
    }
    if (!SetScalar(&config, part.substr(0, equals), part.substr(equals + 1), error)) {
      *error = "SIMGPU_MACHINE: " + *error;
      return std::nullopt;
    }
  }
  if (!CompleteMachine(&config, error)) return std::nullopt;
  return config;
}

std::optional<MachineConfig> LoadMachineConfig(std::string* error) {
  std::optional<MachineConfig> config;
  const char* path = std::getenv("SIMGPU_CONFIG");
  const char* shape = std::getenv("SIMGPU_MACHINE");
  if (path != nullptr && *path != '\0') {
    std::ifstream file(path);
    std::stringstream text;
    if (!file || !(text << file.rdbuf())) {
      *error = std::string("SIMGPU_CONFIG: cannot read '") + path + "'";
      return std::nullopt;
    }
    config = ParseMachineYaml(text.str(), error);
    if (!config) *error = std::string(path) + ": " + *error;
  } else {
    config = ParseMachineShape(shape != nullptr && *shape != '\0' ? shape : "1x1", error);
  }
  const char* state = std::getenv("SIMGPU_STATE");
  if (config && state != nullptr && *state != '\0') config->state = state;
  return config;
}

bool CompleteMachine(MachineConfig* config, std::string* error) {
  std::size_t gpus = 0;
  std::set<std::string> uuids, names;
  for (const NodeConfig& node : config->nodes) {
    gpus += node.gpus.size();
    if (!names.insert(node.name).second)
      return Refuse("name", "one for each node", node.name + " for two nodes", error);
    if (!CheckGpus(node, &uuids, error)) return false;
  }
  if (config->nodes.empty() || config->nodes.size() > kMaxNodes || gpus == 0 || gpus > kMaxGpus) {
    return Refuse("nodes", "1 to 64 nodes and 1 to 64 GPUs in all",
                  std::to_string(config->nodes.size()) + " nodes and " + std::to_string(gpus) + " GPUs",
                  error);
  }
  if (config->node >= static_cast<int>(config->nodes.size())) {
    return Refuse("node", "a node's number from 0 to " + std::to_string(config->nodes.size() - 1),
                  std::to_string(config->node), error);
  }
  if (config->state.empty()) return Refuse("state", "the directory of the shared state", "none", error);
  return true;
}

// Computes FNV-1a over a text of all that the shared state holds. launch_us and other keys are left out,
// because they may differ between processes.
std::uint64_t Digest(const MachineConfig& config) {
  std::uint64_t digest = 0xcbf29ce484222325u;
  Mix(&digest, std::to_string(static_cast<int>(config.mode)) + ' ' + std::to_string(config.quantum_us));
  Mix(&digest, Plain(config.node_link_bytes_per_s) + ' ' + Plain(config.gpu_link_bytes_per_s));
  Mix(&digest, Plain(config.co_run) + ' ' + std::to_string(config.collectives_wait) + ' ' +
                   Plain(config.collective_slowdown));
  Mix(&digest, std::to_string(config.switch_us) + ' ' + std::to_string(config.blocked_wait_ns) + ' ' +
                   std::to_string(config.blocked_device_wait_ns) + ' ' + std::to_string(config.handover_us));
  Mix(&digest, std::to_string(static_cast<int>(config.compute_mode)));
  for (const NodeConfig& node : config.nodes) {
    Mix(&digest, "node " + node.name);
    for (const GpuConfig& gpu : node.gpus) {
      Mix(&digest, gpu.uuid + ' ' + std::to_string(gpu.memory_mib) + ' ' + std::to_string(gpu.sms));
    }
  }
  return digest;
}

}  // namespace simgpu
