// How answers about a cluster are shown.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

enum class Format : std::uint8_t { kText, kWide, kJson, kYaml };

// `value` as JSON or YAML; `text` for people.
std::string Shown(const nlohmann::json& value, const std::string& text, Format format);
// Likewise, as one of several: JSON in one line, a YAML document with --- between it and the one before.
std::string ShownAgain(const nlohmann::json& value, const std::string& text, Format format, bool first);
bool Print(const std::string& text);  // on standard output

}  // namespace crossover::cli
