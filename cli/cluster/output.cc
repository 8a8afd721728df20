#include "cli/cluster/output.h"

#include <nlohmann/json.hpp>

#include "cli/render/yaml.h"
#include "common/kube/json.h"

namespace crossover::cli {

std::string Shown(const nlohmann::json& value, const std::string& text, Format format) {
  if (format == Format::kJson)
    return value.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  return format == Format::kYaml ? Yaml(value) : text;
}

std::string ShownAgain(const nlohmann::json& value, const std::string& text, Format format, bool first) {
  if (format == Format::kJson) return kube::Dump(value) + "\n";
  return (format == Format::kYaml && !first ? "---\n" : "") + Shown(value, text, format);
}

}  // namespace crossover::cli
