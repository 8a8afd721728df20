// Asks many at a time, but not all of them at once.
#pragma once

#include <cstddef>
#include <functional>
#include <nlohmann/json.hpp>
#include <vector>

namespace crossover::cli {

inline constexpr std::size_t kKubectls = 16;  // that run at a time

// What `ask` answers of each of `items`, in their order; {"error": why} where it throws. At most `most` are
// asked at a time, by this thread and others, so `ask` has to be thread-safe. Where the system gives no more
// threads, those that are there do it.
std::vector<nlohmann::json> AskEach(const std::vector<nlohmann::json>& items, std::size_t most,
                                    const std::function<nlohmann::json(const nlohmann::json& item)>& ask);

}  // namespace crossover::cli
