// Converts bytes from and to base64, as Kubernetes objects carry them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace crossover::extender::admission {

// Returns the base64 of `bytes`, or "" for more than INT_MAX / 2 bytes.
std::string Base64Of(std::string_view bytes);

// Returns the decoded bytes, or nothing if `base64` is not valid base64.
std::optional<std::string> BytesOf(std::string_view base64);

}  // namespace crossover::extender::admission
