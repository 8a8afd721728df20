// Puts answers about a cluster into the format that is asked for. Pure.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace crossover::cli {

enum class Format : std::uint8_t { kText, kWide, kJson, kYaml };

// Returns `value` as JSON or YAML, or `text` for the formats that people read.
std::string Shown(const nlohmann::json& value, const std::string& text, Format format);
// Returns what Shown() does, for one of several answers in a row: JSON is one line, and --- separates YAML
// documents. `first` says that no answer was shown before.
std::string ShownAgain(const nlohmann::json& value, const std::string& text, Format format, bool first);

}  // namespace crossover::cli
