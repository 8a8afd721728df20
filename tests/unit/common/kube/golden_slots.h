// Holds containers and the number of slots that each asks for. Each reader of pods has a test that reads all
// of them, so that every program counts alike. The second half are broken twins of the first: an API server
// or our webhook refuses them.
#pragma once

#include <array>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

namespace crossover::kube {

struct GoldenSlots {
  const char* resources;       // of the container, as JSON
  std::int64_t slots;          // that it asks for
  bool refused_by_us = false;  // whether the webhook refuses a pod with this container
};

inline constexpr std::array<GoldenSlots, 20> kGoldenSlots = {{
    {R"({"limits": {"crossover.dev/slot": "1"}, "requests": {"crossover.dev/slot": "1"}})", 1},
    {R"({"limits": {"crossover.dev/slot": "8"}})", 8},
    {R"({"requests": {"crossover.dev/slot": "2"}})", 2},
    {R"({"limits": {"crossover.dev/slot": 4}})", 4},
    {R"({"limits": {"crossover.dev/slot": "1k"}})", 1000},
    {R"({"limits": {"crossover.dev/slot": "1000m"}})", 1},
    {R"({"limits": {"crossover.dev/slot": "1e1"}})", 10},
    {R"({"limits": {"crossover.dev/slot": "0"}})", 0},
    {R"({"limits": {"cpu": "500m", "nvidia.com/mig-1g.10gb": "1"}})", 0},
    {R"({"limits": {"crossover.dev/slots": "1"}})", 0},
    {R"({})", 0},
    {R"(null)", 0},
    {R"({"limits": {"crossover.dev/slot": "1"}, "requests": {"crossover.dev/slot": "2"}})", 2, true},
    {R"({"limits": {"crossover.dev/slot": "500m"}})", 1, true},
    {R"({"limits": {"crossover.dev/slot": "-1"}})", 0, true},
    {R"({"limits": {"crossover.dev/slot": "one"}})", 0, true},
    {R"({"limits": {"crossover.dev/slot": ""}})", 0, true},
    {R"({"limits": {"crossover.dev/slot": true}})", 0, true},
    {R"({"limits": {"crossover.dev/slot": ["1"]}})", 0, true},
    {R"({"limits": {"crossover.dev/slot": {"1": 1}}})", 0, true},
}};

// Returns a pod whose only container has these resources.
inline nlohmann::json PodWith(const GoldenSlots& golden) {
  return {{"metadata", {{"uid", "u"}, {"namespace", "n"}, {"name", "p"}}},
          {"spec",
           {{"containers", nlohmann::json::array(
                               {{{"name", "a"}, {"resources", nlohmann::json::parse(golden.resources)}}})}}}};
}

}  // namespace crossover::kube
