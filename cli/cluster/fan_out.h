// Asks many questions in parallel, up to a limit.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

namespace crossover::cli {

inline constexpr std::size_t kKubectls = 16;  // kubectl processes at a time

// Returns the answers of `ask` to `items`, in their order. An answer is {"error": why} if `ask` throws. At
// most `most` questions run in parallel, on this thread and others, so `ask` must be thread-safe. If the
// system gives no more threads, the existing ones do the work.
std::vector<nlohmann::json> FanOut(const std::vector<nlohmann::json>& items, std::size_t most,
                                   const std::function<nlohmann::json(const nlohmann::json& item)>& ask);

}  // namespace crossover::cli
