// Parses and writes timestamps of Kubernetes (RFC 3339). Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace crossover::kube {

// Returns seconds since 1970 for text like 2026-11-21T01:44:45Z, with or without a fraction, in any time
// zone. Returns nothing if `text` is no timestamp.
std::optional<double> ParseTimestamp(std::string_view text);

// Returns whole seconds in UTC, such as 2026-11-21T01:44:45Z. Returns "" if no calendar date exists for
// `seconds`.
std::string WriteTimestamp(double seconds);

}  // namespace crossover::kube
