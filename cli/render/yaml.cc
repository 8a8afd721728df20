#include "cli/render/yaml.h"

#include <nlohmann/json.hpp>

#include "common/kube/json.h"

namespace crossover::cli {
namespace {

using nlohmann::json;

bool IsPlain(const json& value) { return !value.is_structured() || value.empty(); }

// Appends `value`. Each line but the first begins with `indent`.
void Write(const json& value, const std::string& indent, std::string* text) {
  if (IsPlain(value)) {
    *text += kube::Dump(value) + "\n";
    return;
  }
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) *text += indent;
    first = false;
    *text += value.is_array() ? "-" : kube::Dump(json(key)) + ":";
    if (IsPlain(item) || value.is_array()) {
      *text += " ";
      Write(item, indent + "  ", text);
    } else {
      *text += "\n" + indent + "  ";
      Write(item, indent + "  ", text);
    }
  }
}

}  // namespace

std::string Yaml(const json& value) {
  std::string text;
  Write(value, "", &text);
  return text;
}

}  // namespace crossover::cli
