#include "deviceplugin/plugin/cdi_spec.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>

#include "common/base/refusal.h"
#include "common/config/yaml_map.h"
#include "common/text/number.h"

namespace crossover::deviceplugin {
namespace {

using nlohmann::json;

// A specification of NVIDIA's has some hundred mounts.
constexpr std::size_t kMostEntries = 4096;
constexpr std::size_t kLongestText = 4096;  // bytes of one text
constexpr char kVisibleDevicesPrefix[] = "NVIDIA_VISIBLE_DEVICES=";
constexpr char kManagementKind[] = "management.nvidia.com/gpu";
constexpr std::string_view kPathAllowed = "an absolute path without .. and control characters";

bool IsPlain(const std::string& text) {
  return text.size() <= kLongestText &&
         std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

bool IsPath(const std::string& path) {
  const bool up = path.find("/../") != std::string::npos || path.ends_with("/..");
  return path.starts_with('/') && !up && IsPlain(path);
}

// Returns the value of `key`, or a node that is not defined.
YAML::Node At(const YAML::Node& map, const char* key) {
  return map.IsDefined() && map.IsMap() ? map[key] : YAML::Node(YAML::NodeType::Undefined);
}

std::string TextAt(const YAML::Node& map, const char* key) {
  const YAML::Node value = At(map, key);
  return value.IsDefined() && value.IsScalar() ? value.Scalar() : "";
}

// Returns the entries of the list at `key`. Throws yaml::Fault if there are too many.
std::vector<YAML::Node> ListAt(const YAML::Node& map, const char* key) {
  std::vector<YAML::Node> entries;
  const YAML::Node list = At(map, key);
  if (!list.IsDefined() || !list.IsSequence()) return entries;
  if (list.size() > kMostEntries)
    throw yaml::Fault(list.Mark(), base::Refusal(key, "at most " + std::to_string(kMostEntries) + " entries",
                                                 std::to_string(list.size())));
  for (const YAML::Node& entry : list) entries.push_back(entry);
  return entries;
}

std::vector<std::string> TextsAt(const YAML::Node& map, const char* key) {
  std::vector<std::string> texts;
  for (const YAML::Node& entry : ListAt(map, key)) {
    const std::string text = entry.IsScalar() ? entry.Scalar() : "";
    if (!entry.IsScalar() || !IsPlain(text))
      throw yaml::Fault(entry.Mark(),
                        base::Refusal(key, "texts without control characters", base::Shown(text)));
    texts.push_back(text);
  }
  return texts;
}

std::string PathAt(const YAML::Node& map, const char* key) {
  std::string path = TextAt(map, key);
  if (!IsPath(path)) throw yaml::Fault(map.Mark(), base::Refusal(key, kPathAllowed, base::Shown(path)));
  return path;
}

void ReadNodes(const YAML::Node& edits, CdiSpec* spec) {
  for (const YAML::Node& entry : ListAt(edits, "deviceNodes")) {
    CdiDeviceNode node{.path = PathAt(entry, "path"), .host_path = {}};
    if (At(entry, "hostPath").IsDefined()) node.host_path = PathAt(entry, "hostPath");
    if (spec->nodes.size() < kMostEntries) spec->nodes.push_back(std::move(node));
  }
}

void ReadCommonEdits(const YAML::Node& edits, CdiSpec* spec) {
  spec->env = TextsAt(edits, "env");
  for (const YAML::Node& entry : ListAt(edits, "mounts")) {
    const std::string type = TextAt(entry, "type");
    spec->mounts.push_back({.host_path = PathAt(entry, "hostPath"),
                            .container_path = PathAt(entry, "containerPath"),
                            .type = IsPlain(type) ? type : "",
                            .options = TextsAt(entry, "options")});
  }
  for (const YAML::Node& entry : ListAt(edits, "hooks")) {
    const std::string name = TextAt(entry, "hookName");
    CdiHook hook{.name = IsPlain(name) ? name : "",
                 .path = PathAt(entry, "path"),
                 .args = TextsAt(entry, "args"),
                 .env = TextsAt(entry, "env"),
                 .timeout_s = text::ParseInteger(TextAt(entry, "timeout"), 0, 3600)};
    spec->hooks.push_back(std::move(hook));
  }
  ReadNodes(edits, spec);
}

bool IsKind(const std::string& kind) {
  const auto slash = kind.find('/');
  return IsPlain(kind) && slash != std::string::npos && slash > 0 && slash + 1 < kind.size();
}

bool IsOfNvidia(const CdiSpec& spec) {
  const std::string vendor = spec.kind.substr(0, spec.kind.find('/'));
  return vendor == "nvidia.com" || vendor.ends_with(".nvidia.com");
}

// Returns the specification from which ours can take the driver's libraries: NVIDIA's for all GPUs, or else
// the one with the most mounts. Returns null if there is none.
const CdiSpec* TemplateIn(const std::vector<CdiSpec>& found) {
  const CdiSpec* best = nullptr;
  const auto rank = [](const CdiSpec& spec) {
    return std::tuple(spec.kind == kManagementKind, spec.mounts.size());
  };
  for (const CdiSpec& spec : found) {
    if (!IsOfNvidia(spec) || spec.mounts.empty()) continue;
    if (best == nullptr || rank(spec) > rank(*best)) best = &spec;
  }
  return best;
}

bool NamesAll(const CdiFacts& facts) {
  std::set<std::string> named;
  for (const CdiSpec& spec : facts.found) {
    if (spec.kind == facts.given_kind) named.insert(spec.devices.begin(), spec.devices.end());
  }
  return std::all_of(facts.gpus.begin(), facts.gpus.end(),
                     [&named](const CdiGpu& gpu) { return named.contains(gpu.uuid); });
}

json Nodes(const std::vector<std::string>& paths, const std::map<std::string, std::string>& host_paths) {
  json nodes = json::array();
  for (const std::string& path : paths) {
    json node = {{"path", path}};
    if (const auto host = host_paths.find(path); host != host_paths.end()) node["hostPath"] = host->second;
    nodes.push_back(std::move(node));
  }
  return nodes;
}

json CommonEdits(const CdiSpec& from) {
  json edits = json::object();
  for (const std::string& variable : from.env) {
    if (!variable.starts_with(kVisibleDevicesPrefix)) edits["env"].push_back(variable);
  }
  for (const CdiMount& mount : from.mounts) {
    json entry = {{"hostPath", mount.host_path}, {"containerPath", mount.container_path}};
    if (!mount.options.empty()) entry["options"] = mount.options;
    if (!mount.type.empty()) entry["type"] = mount.type;
    edits["mounts"].push_back(std::move(entry));
  }
  for (const CdiHook& hook : from.hooks) {
    json entry = {{"hookName", hook.name}, {"path", hook.path}};
    if (!hook.args.empty()) entry["args"] = hook.args;
    if (!hook.env.empty()) entry["env"] = hook.env;
    if (hook.timeout_s) entry["timeout"] = *hook.timeout_s;
    edits["hooks"].push_back(std::move(entry));
  }
  return edits;
}

CdiSpec OfDriverRoot(const std::string& root) {
  CdiSpec spec;
  spec.mounts = {{.host_path = root,
                  .container_path = "/usr/local/nvidia",
                  .type = "",
                  .options = {"ro", "nosuid", "nodev", "rbind"}}};
  return spec;
}

CdiChoice OwnSpec(const CdiSpec& from, const CdiFacts& facts) {
  const auto has = [&facts](const std::string& file) {
    return std::find(facts.device_files.begin(), facts.device_files.end(), file) != facts.device_files.end();
  };
  const auto missing = [](const std::string& file, unsigned minor) {
    return CdiNone{base::Refusal(file, "on the node", "no such file") +
                   ": the driver makes it (nvidia-modprobe -u -c " + std::to_string(minor) +
                   "), and CDI devices need it"};
  };
  std::vector<std::string> common;
  for (const char* file : {"/dev/nvidiactl", "/dev/nvidia-uvm"}) {
    if (!has(file)) return missing(file, 0);
    common.emplace_back(file);
  }
  for (const char* file : {"/dev/nvidia-uvm-tools", "/dev/nvidia-modeset"}) {
    if (has(file)) common.emplace_back(file);
  }
  std::map<std::string, std::string> host_paths;
  for (const CdiDeviceNode& node : from.nodes) {
    if (!node.host_path.empty() && node.host_path != node.path) host_paths.emplace(node.path, node.host_path);
  }
  json spec = {{"cdiVersion", "0.5.0"},  // containerd 1.7 reads it
               {"kind", kOwnCdiKind},
               {"devices", json::array()},
               {"containerEdits", CommonEdits(from)}};
  spec["containerEdits"]["deviceNodes"] = Nodes(common, host_paths);
  for (const CdiGpu& gpu : facts.gpus) {
    const std::string file = "/dev/nvidia" + std::to_string(gpu.minor);
    if (!has(file)) return missing(file, gpu.minor);
    spec["devices"].push_back(
        {{"name", gpu.uuid}, {"containerEdits", {{"deviceNodes", Nodes({file}, host_paths)}}}});
  }
  return CdiOwn{spec.dump(2, ' ', false, json::error_handler_t::replace) + "\n"};
}

}  // namespace

std::optional<CdiSpec> ReadCdiSpec(const std::string& text, const std::string& name, std::string* error) {
  CdiSpec spec;
  const auto read = [&spec](const YAML::Node& root) {
    spec.kind = TextAt(root, "kind");
    if (!IsKind(spec.kind))
      throw yaml::Fault(root.IsNull() ? YAML::Mark() : root.Mark(),
                        base::Refusal("kind", "vendor/class", base::Shown(spec.kind)));
    ReadCommonEdits(At(root, "containerEdits"), &spec);
    for (const YAML::Node& device : ListAt(root, "devices")) {
      spec.devices.push_back(TextAt(device, "name"));
      ReadNodes(At(device, "containerEdits"), &spec);
    }
  };
  if (!yaml::Parse(text, name, read, error)) return std::nullopt;
  return spec;
}

CdiChoice ChooseCdi(CdiSource wanted, const CdiFacts& facts) {
  if (wanted == CdiSource::kGiven || facts.gpus.empty()) return CdiGiven{};
  if (wanted == CdiSource::kAuto && NamesAll(facts)) return CdiGiven{};
  if (const CdiSpec* from = TemplateIn(facts.found)) return OwnSpec(*from, facts);
  if (!facts.driver_root.empty()) return OwnSpec(OfDriverRoot(facts.driver_root), facts);
  return CdiNone{
      "/etc/cdi, /var/run/cdi: expected a CDI specification of NVIDIA's toolkit, got none: run nvidia-ctk "
      "cdi "
      "generate, or set node.driver_root, or node.devices to environment, or node.cdi to given where the "
      "container runtime reads other folders"};
}

}  // namespace crossover::deviceplugin
