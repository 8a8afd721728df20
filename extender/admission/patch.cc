#include "extender/admission/patch.h"

namespace crossover::extender::admission {

std::optional<nlohmann::json> PatchBetween(const nlohmann::json& from, const nlohmann::json& to,
                                           Differ differ) try {
  nlohmann::json patch = differ != nullptr ? differ(from, to) : nlohmann::json::diff(from, to);
  if (from.patch(patch) != to) return std::nullopt;
  return patch;
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

}  // namespace crossover::extender::admission
