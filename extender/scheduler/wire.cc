#include "extender/scheduler/wire.h"

#include <simdjson.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/base/names.h"
#include "common/base/refusal.h"
#include "common/kube/slots.h"

namespace crossover::extender {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

// Without nodeCacheCapable the scheduler sends whole Node objects instead of names.
constexpr char kNotCapable[] =
    "the scheduler sends whole nodes or pods: set nodeCacheCapable: true of this extender in its "
    "configuration";

std::string_view KindOf(const element& value) {
  if (value.is_null()) return "null";
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  return value.is_string() ? "a text" : value.is_bool() ? "true or false" : "a number";
}

std::nullopt_t Refuse(std::string_view key, std::string_view expected, std::string_view got,
                      std::string* error) {
  *error = base::Refusal(key, expected, got);
  return std::nullopt;
}

// Returns, in words, the kind of the value at `key`.
std::string_view KindAt(const object& in, const char* key) {
  element value;
  return in.at_key(key).get(value) == simdjson::SUCCESS ? KindOf(value) : "nothing";
}

// Returns whether the key is missing or null: the scheduler, a Go program, takes both for the same.
bool IsNull(const object& in, const char* key) {
  element value;
  return in.at_key(key).get(value) != simdjson::SUCCESS || value.is_null();
}

bool ReadText(const object& in, const char* key, std::string_view name, std::string* text,
              std::string* error) {
  element value;
  std::string_view view;
  const bool there = in.at_key(key).get(value) == simdjson::SUCCESS;
  if (there && value.get(view) == simdjson::SUCCESS && !view.empty()) {
    *text = view;
    return true;
  }
  Refuse(name, "a text that is not empty",
         there ? (value.is_string() ? "an empty text" : KindOf(value)) : "nothing", error);
  return false;
}

// Returns the container's quantity of slots under `kind`, limits or requests; null if there is none.
nlohmann::json SlotsAt(const element& container, const char* kind) {
  element count;
  if (container["resources"][kind][base::kSlotResource].get(count) != simdjson::SUCCESS) return nullptr;
  std::string_view text;
  if (count.get(text) == simdjson::SUCCESS) return std::string(text);
  double number = 0;
  if (count.get(number) == simdjson::SUCCESS) return number;
  return nullptr;
}

// Returns whether any of the containers asks for slots. A list that cannot be read asks for none: such a
// pod may go to any node.
bool AsksForSlots(const element& containers) {
  array list;
  if (containers.get(list) != simdjson::SUCCESS) return false;
  return std::any_of(list.begin(), list.end(), [](const element container) {
    return kube::SlotsOf(SlotsAt(container, "limits"), SlotsAt(container, "requests")) > 0;
  });
}

bool ReadPod(const object& root, PodRef* pod, std::string* error) {
  object metadata;
  if (root["Pod"]["metadata"].get(metadata) != simdjson::SUCCESS) {
    Refuse("Pod", "a pod with metadata", "none", error);
    return false;
  }
  pod->slots = false;
  for (const char* kind : {"initContainers", "containers"}) {
    element containers;
    if (root["Pod"]["spec"][kind].get(containers) == simdjson::SUCCESS)
      pod->slots |= AsksForSlots(containers);
  }
  std::string_view nominated;
  if (root["Pod"]["status"]["nominatedNodeName"].get(nominated) == simdjson::SUCCESS)
    pod->nominated = nominated;
  return ReadText(metadata, "uid", "Pod.metadata.uid", &pod->uid, error) &&
         ReadText(metadata, "namespace", "Pod.metadata.namespace", &pod->name_space, error) &&
         ReadText(metadata, "name", "Pod.metadata.name", &pod->name, error);
}

// Reads the victims on one node. Returns false, with one line in `error`, if they are not as they must be.
bool ReadVictims(const element& value, const std::string& name, Victims* victims, std::string* error) {
  object node;
  if (value.get(node) != simdjson::SUCCESS) {
    Refuse(name, "Pods and NumPDBViolations", KindOf(value), error);
    return false;
  }
  std::int64_t violated = 0;
  if (!IsNull(node, "NumPDBViolations") && node["NumPDBViolations"].get(violated) != simdjson::SUCCESS) {
    Refuse(name + ".NumPDBViolations", "a whole number", KindAt(node, "NumPDBViolations"), error);
    return false;
  }
  victims->disruption_budgets_violated = static_cast<int>(std::clamp<std::int64_t>(violated, 0, INT32_MAX));
  if (IsNull(node, "Pods")) return true;
  array pods;
  if (node["Pods"].get(pods) != simdjson::SUCCESS) {
    Refuse(name + ".Pods", "a list of pods", KindAt(node, "Pods"), error);
    return false;
  }
  for (const element pod : pods) {
    object one;
    if (pod.get(one) != simdjson::SUCCESS) {
      Refuse(name + ".Pods", "a list of pods", KindOf(pod), error);
      return false;
    }
    if (!ReadText(one, "UID", name + ".Pods.UID", &victims->uids.emplace_back(), error)) return false;
  }
  return true;
}

void AppendEscaped(std::string_view text, std::string* json) {
  json->push_back('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      json->append({'\\', c});
    } else if (byte < 0x20) {
      std::array<char, 8> escape{};
      std::snprintf(escape.data(), escape.size(), "\\u%04x", byte);
      json->append(escape.data());
    } else {
      json->push_back(c);
    }
  }
  json->push_back('"');
}

void Separate(std::string* json) {
  if (json->back() != '{' && json->back() != '[') json->push_back(',');
}

// Appends the text about `node` in `texts`, if there is one. Returns whether there is.
bool AppendReason(const std::map<std::string, std::string>& texts, std::string_view node, std::string* json) {
  if (texts.empty()) return false;
  const auto found = texts.find(std::string(node));
  if (found == texts.end()) return false;
  Separate(json);
  AppendEscaped(node, json);
  json->push_back(':');
  AppendEscaped(found->second, json);
  return true;
}

}  // namespace

struct ArgsParser::Impl {
  simdjson::dom::parser parser;

  std::optional<object> Read(const std::string& text, std::string* error) {
    element root;
    if (const auto fault = parser.parse(text).get(root)) {
      *error = std::string("not JSON: ") + simdjson::error_message(fault);
      return std::nullopt;
    }
    object whole;
    if (root.get(whole) != simdjson::SUCCESS) return Refuse("the text", "an object", KindOf(root), error);
    return whole;
  }
};

ArgsParser::ArgsParser() : impl_(std::make_unique<Impl>()) {}
ArgsParser::~ArgsParser() = default;

std::optional<NodesQuestion> ArgsParser::Nodes(const std::string& text, std::string* error) {
  const auto root = impl_->Read(text, error);
  NodesQuestion question;
  if (!root || !ReadPod(*root, &question.pod, error)) return std::nullopt;
  if (!IsNull(*root, "Nodes") && IsNull(*root, "NodeNames")) {
    *error = kNotCapable;
    return std::nullopt;
  }
  if (IsNull(*root, "NodeNames")) return question;
  array names;
  if ((*root)["NodeNames"].get(names) != simdjson::SUCCESS)
    return Refuse("NodeNames", "a list of names", KindAt(*root, "NodeNames"), error);
  question.nodes.reserve(names.size());
  for (const element name : names) {
    if (name.get(question.nodes.emplace_back()) != simdjson::SUCCESS)
      return Refuse("NodeNames", "a list of names", KindOf(name), error);
  }
  return question;
}

std::optional<BindQuestion> ArgsParser::Bind(const std::string& text, std::string* error) {
  const auto root = impl_->Read(text, error);
  BindQuestion question;
  if (!root || !ReadText(*root, "PodUID", "PodUID", &question.pod.uid, error) ||
      !ReadText(*root, "PodNamespace", "PodNamespace", &question.pod.name_space, error) ||
      !ReadText(*root, "PodName", "PodName", &question.pod.name, error) ||
      !ReadText(*root, "Node", "Node", &question.node, error))
    return std::nullopt;
  return question;
}

std::optional<PreemptQuestion> ArgsParser::Preempt(const std::string& text, std::string* error) {
  const auto root = impl_->Read(text, error);
  PreemptQuestion question;
  if (!root || !ReadPod(*root, &question.pod, error)) return std::nullopt;
  if (!IsNull(*root, "NodeNameToVictims") && IsNull(*root, "NodeNameToMetaVictims")) {
    *error = kNotCapable;
    return std::nullopt;
  }
  if (IsNull(*root, "NodeNameToMetaVictims")) return question;
  object nodes;
  if ((*root)["NodeNameToMetaVictims"].get(nodes) != simdjson::SUCCESS)
    return Refuse("NodeNameToMetaVictims", "nodes and their victims", KindAt(*root, "NodeNameToMetaVictims"),
                  error);
  for (const auto [node, victims] : nodes) {
    std::string name(node);
    Victims* target = &question.by_node[name];
    *target = {};  // if a key occurs twice, the last one counts
    if (!ReadVictims(victims, "NodeNameToMetaVictims." + name, target, error)) return std::nullopt;
  }
  return question;
}

std::string FilterText(const FilterAnswer& answer, std::span<const std::string_view> asked) {
  std::string names = R"({"NodeNames":[)";
  const std::size_t none = names.size();
  for (const std::string_view node : asked) {
    if (std::find(answer.nodes.begin(), answer.nodes.end(), node) == answer.nodes.end()) continue;
    if (names.size() != none) names += ',';
    AppendEscaped(node, &names);
  }
  // The scheduler shows reasons only if no node is left. Thousands of unused ones would cost it more time
  // than all its other work.
  if (names.size() != none)
    return names + R"(],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":""})";
  std::string failed = R"(],"FailedNodes":{)";
  std::string unresolvable = R"(},"FailedAndUnresolvableNodes":{)";
  std::string others;
  AppendEscaped(answer.others, &others);
  unresolvable.reserve(asked.size() * (others.size() + 32));
  for (const std::string_view node : asked) {
    if (!AppendReason(answer.failed, node, &failed) &&
        !AppendReason(answer.unresolvable, node, &unresolvable)) {
      Separate(&unresolvable);
      AppendEscaped(node, &unresolvable);
      unresolvable.append(":").append(others);
    }
  }
  return names + failed + unresolvable + R"(},"Error":""})";
}

std::string FilterErrorText(std::string_view error) {
  std::string json = R"({"NodeNames":[],"FailedNodes":{},"FailedAndUnresolvableNodes":{},"Error":)";
  AppendEscaped(error, &json);
  return json + "}";
}

std::string PrioritizeText(std::span<const int> scores, std::span<const std::string_view> asked) {
  constexpr int kBest = 10;
  std::string json = "[";
  for (std::size_t i = 0; i < asked.size(); ++i) {
    Separate(&json);
    json += R"({"Host":)";
    AppendEscaped(asked[i], &json);
    json += R"(,"Score":)" + std::to_string(i < scores.size() ? std::clamp(scores[i], 0, kBest) : 0) + "}";
  }
  return json + "]";
}

std::string BindText(std::string_view error) {
  std::string json = R"({"Error":)";
  AppendEscaped(error, &json);
  return json + "}";
}

std::string PreemptText(const std::map<std::string, Victims>& by_node) {
  std::string json = R"({"NodeNameToMetaVictims":{)";
  for (const auto& [node, victims] : by_node) {
    if (victims.uids.empty()) continue;
    Separate(&json);
    AppendEscaped(node, &json);
    json += R"(:{"Pods":[)";
    for (const std::string& uid : victims.uids) {
      Separate(&json);
      json += R"({"UID":)";
      AppendEscaped(uid, &json);
      json += "}";
    }
    json += R"(],"NumPDBViolations":)" + std::to_string(victims.disruption_budgets_violated) + "}";
  }
  return json + "}}";
}

}  // namespace crossover::extender
