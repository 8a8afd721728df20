// Makes pods as an API server shows them to a webhook.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace crossover::extender::admission {

inline nlohmann::json MadeContainer(const std::string& name, const nlohmann::json& amounts) {
  return {{"name", name}, {"image", "x"}, {"resources", {{"limits", amounts}, {"requests", amounts}}}};
}

// Returns a pod with one container that asks for `gpus` whole GPUs.
inline nlohmann::json MadePod(const nlohmann::json& annotations, const std::string& gpus = "2") {
  return {{"metadata", {{"generateName", "train-"}, {"annotations", annotations}}},
          {"spec",
           {{"containers",
             nlohmann::json::array({MadeContainer("main", {{"nvidia.com/gpu", gpus}, {"cpu", "1"}})})},
            {"schedulerName", "default-scheduler"}}}};
}

}  // namespace crossover::extender::admission
