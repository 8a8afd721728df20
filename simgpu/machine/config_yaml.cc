#include "simgpu/machine/config.h"

#ifdef SIMGPU_WITHOUT_YAML

namespace simgpu {

std::optional<MachineConfig> ParseMachineYaml(const std::string&, std::string* error) {
  *error = "this build reads no YAML; use SIMGPU_MACHINE=<nodes>x<gpus>[,key=value...]";
  return std::nullopt;
}

}  // namespace simgpu

#else

#include <yaml-cpp/yaml.h>

#include "common/base/refusal.h"
#include "simgpu/kernels/rules.h"

namespace simgpu {
namespace {

std::string Where(const YAML::Node& node) { return "line " + std::to_string(node.Mark().line + 1) + ": "; }

bool Fail(const YAML::Node& node, const std::string& text, std::string* error) {
  *error = Where(node) + text;
  return false;
}

std::string Printed(const YAML::Node& node) {
  if (node.IsScalar()) return node.Scalar();
  if (node.IsSequence()) return "a list";
  return node.IsMap() ? "a map" : "nothing";
}

// Refuses `value`. `at` says in which line the fault is.
bool Refuse(const YAML::Node& at, const std::string& key, const std::string& expected,
            const YAML::Node& value, std::string* error) {
  return Fail(at, crossover::base::Refusal(key, expected, Printed(value)), error);
}

bool ReadGpu(const YAML::Node& map, GpuConfig* gpu, std::string* error) {
  if (!map.IsMap()) return Refuse(map, "a GPU", "a map of uuid, memory_mib and sms", map, error);
  for (const auto& entry : map) {
    const std::string key = entry.first.Scalar();
    if (!entry.second.IsScalar()) return Refuse(entry.first, key, "a plain value", entry.second, error);
    if (key == "uuid") {
      gpu->uuid = entry.second.Scalar();
    } else if (key == "memory_mib" || key == "sms") {
      const long limit = key == "sms" ? 1024 : 1 << 24;
      const long value = entry.second.as<long>(0);
      if (value < 1 || value > limit) {
        return Refuse(entry.first, key, "a whole number from 1 to " + std::to_string(limit), entry.second,
                      error);
      }
      if (key == "sms") gpu->sms = static_cast<int>(value);
      if (key == "memory_mib") gpu->memory_mib = static_cast<std::uint64_t>(value);
    } else {
      return Fail(entry.first, "unknown key '" + key + "' of a GPU; known are uuid, memory_mib, sms", error);
    }
  }
  return true;
}

bool ReadGpus(const YAML::Node& value, int node, NodeConfig* result, std::string* error) {
  if (value.IsScalar()) {
    const int count = value.as<int>(-1);
    if (count < 0 || count > kMaxGpus) {
      return Refuse(value, "gpus", "a number from 0 to 64 or a list", value, error);
    }
    result->gpus = DefaultNode(node, count).gpus;
    return true;
  }
  if (!value.IsSequence()) return Refuse(value, "gpus", "a number or a list", value, error);
  for (const YAML::Node& map : value) {
    GpuConfig gpu;
    gpu.uuid = DefaultUuid(node, static_cast<int>(result->gpus.size()));
    if (!ReadGpu(map, &gpu, error)) return false;
    result->gpus.push_back(gpu);
  }
  return true;
}

bool ReadNode(const YAML::Node& map, int index, NodeConfig* node, std::string* error) {
  node->name = "node" + std::to_string(index);
  if (!map.IsMap()) return Refuse(map, "a node", "a map of name and gpus", map, error);
  for (const auto& entry : map) {
    const std::string key = entry.first.Scalar();
    if (key == "name" && entry.second.IsScalar()) {
      node->name = entry.second.Scalar();
    } else if (key == "gpus") {
      if (!ReadGpus(entry.second, index, node, error)) return false;
    } else {
      return Fail(entry.first, "key '" + key + "' of a node: expected name, with a plain value, or gpus",
                  error);
    }
  }
  return true;
}

bool ReadKernels(const YAML::Node& list, KernelCosts* costs, std::string* error) {
  if (!list.IsSequence()) return Refuse(list, "kernels", "a list of rules", list, error);
  for (const YAML::Node& map : list) {
    if (!map.IsMap()) return Refuse(map, "a rule of kernels", "a map of name, ns and others", map, error);
    KernelRule rule;
    std::string text;
    for (const auto& entry : map) {
      const std::string key = entry.first.Scalar();
      if (!entry.second.IsScalar()) return Refuse(entry.first, key, "a plain value", entry.second, error);
      if (!SetRuleKey(&rule, key, entry.second.Scalar(), &text)) return Fail(entry.first, text, error);
    }
    if (!CompleteRule(rule, &text)) return Fail(map, text, error);
    costs->rules.push_back(rule);
  }
  return true;
}

bool ReadMachine(const YAML::Node& root, MachineConfig* config, std::string* error) {
  if (!root.IsMap()) return Refuse(root, "the machine", "a map", root, error);
  for (const auto& entry : root) {
    const std::string key = entry.first.Scalar();
    if (key == "nodes") {
      if (!entry.second.IsSequence()) return Refuse(entry.first, "nodes", "a list", entry.second, error);
      if (entry.second.size() > kMaxNodes) {
        return Fail(entry.first,
                    crossover::base::Refusal("nodes", "at most 64", std::to_string(entry.second.size())),
                    error);
      }
      for (const YAML::Node& map : entry.second) {
        NodeConfig node;
        if (!ReadNode(map, static_cast<int>(config->nodes.size()), &node, error)) return false;
        config->nodes.push_back(node);
      }
    } else if (key == "kernels") {
      if (!ReadKernels(entry.second, &config->kernel_costs, error)) return false;
    } else if (!entry.second.IsScalar()) {
      return Refuse(entry.first, key, "a plain value", entry.second, error);
    } else if (std::string text; !SetScalar(config, key, entry.second.Scalar(), &text)) {
      return Fail(entry.first, text, error);
    }
  }
  return CompleteMachine(config, error);
}

}  // namespace

std::optional<MachineConfig> ParseMachineYaml(const std::string& text, std::string* error) {
  // yaml-cpp reports errors by exceptions. None leaves this function.
  try {
    MachineConfig config;
    if (!ReadMachine(YAML::Load(text), &config, error)) return std::nullopt;
    return config;
  } catch (const YAML::Exception& exception) {
    *error = "line " + std::to_string(exception.mark.line + 1) + ": " + exception.msg;
    return std::nullopt;
  }
}

}  // namespace simgpu

#endif
