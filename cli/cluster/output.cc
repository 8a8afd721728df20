#include "cli/cluster/output.h"

#include <cstdio>
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

bool Print(const std::string& text) {
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
}

}  // namespace crossover::cli
