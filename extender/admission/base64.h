// Bytes as Kubernetes objects carry them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace crossover::extender::admission {

std::string Base64Of(std::string_view bytes);

// Nothing for what is no base64.
std::optional<std::string> BytesOf(std::string_view base64);

}  // namespace crossover::extender::admission
