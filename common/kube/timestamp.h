// Instants as Kubernetes writes them (RFC 3339). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace crossover::kube {

// Seconds since 1970, of 2026-11-21T01:44:45Z, with a fraction or not, in any zone. Nothing for what is none.
std::optional<double> ParseTimestamp(std::string_view text);

// In whole seconds, of UTC: 2026-11-21T01:44:45Z. Empty for what no calendar has.
std::string WriteTimestamp(double seconds);

}  // namespace crossover::kube
